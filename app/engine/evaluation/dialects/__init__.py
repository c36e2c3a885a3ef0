"""The dialects: named rules by which answers, addresses, pages and states are compared."""
