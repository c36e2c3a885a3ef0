"""Small widgets that every view uses."""

from app.views.widgets.badge import Badge
from app.views.widgets.elided_label import ElidedLabel
from app.views.widgets.empty_state import EmptyState
from app.views.widgets.splitter import Splitter
from app.views.widgets.toast import Toast

__all__ = ["Badge", "ElidedLabel", "EmptyState", "Splitter", "Toast"]
