"""Things the back office shows besides Wagtail's own menu."""

from wagtail import hooks
from wagtail.admin.ui.tables import Column
from wagtail.admin.viewsets.pages import PageListingViewSet
from wagtail.snippets.models import register_snippet
from wagtail.snippets.views.snippets import SnippetViewSet

from heritage.models import CollectionObject, Department, EventPage, NewsCategory, Notice, Supporter


@register_snippet
class NewsCategorySnippets(SnippetViewSet):
    """News categories."""

    model = NewsCategory
    icon = "tag"
    list_display = ["name", "description"]


@register_snippet
class DepartmentSnippets(SnippetViewSet):
    """Departments."""

    model = Department
    icon = "group"
    list_display = ["name", "extension", "office"]


@register_snippet
class SupporterSnippets(SnippetViewSet):
    """Supporters."""

    model = Supporter
    icon = "pick"
    list_display = ["name", "get_level_display", "get_kind_display", "annual_gift", "since"]
    list_filter = ["level", "kind"]
    search_fields = ["name", "contact_name"]
    list_export = ["name", "level", "kind", "annual_gift", "since", "contact_name", "email"]


@register_snippet
class CollectionObjectSnippets(SnippetViewSet):
    """Things in the museum collection."""

    model = CollectionObject
    icon = "doc-full"
    menu_label = "Collection"
    add_to_admin_menu = True
    menu_order = 250
    list_display = ["accession_number", "title", "period", "condition", "kept_at", "insured_value"]
    list_filter = ["period", "condition", "kept_at"]
    list_export = ["accession_number", "title", "period", "condition", "insured_value"]


@register_snippet
class NoticeSnippets(SnippetViewSet):
    """Notices."""

    model = Notice
    icon = "warning"
    list_display = ["text", "place", "urgent"]
    list_filter = ["urgent"]


class EventListing(PageListingViewSet):
    """All events in one flat list."""

    icon = "date"
    menu_label = "Event calendar"
    menu_order = 240
    add_to_admin_menu = True
    model = EventPage
    list_per_page = 20
    columns = [
        *(one for one in PageListingViewSet.columns if one.name in ("bulk_actions", "title")),
        Column("start_date", label="Start date", sort_key="start_date"),
        Column("venue", label="Venue"),
        Column("price", label="Ticket price", sort_key="price"),
        Column("capacity", label="Places", sort_key="capacity"),
        *(one for one in PageListingViewSet.columns if one.name == "status"),
    ]
    list_filter = ["audience", "venue"]


@hooks.register("register_admin_viewset")
def event_listing() -> EventListing:
    """The list of events, in the menu."""
    return EventListing("event_calendar")
