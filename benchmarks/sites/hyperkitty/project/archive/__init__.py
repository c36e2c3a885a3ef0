"""The Django project around HyperKitty: settings, a member register in place of Mailman, and the server."""
