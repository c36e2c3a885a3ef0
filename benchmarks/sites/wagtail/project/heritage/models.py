"""Page types, snippets and settings of the charity's website."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.http import HttpRequest
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey
from taggit.models import TaggedItemBase
from wagtail.admin.panels import FieldPanel, FieldRowPanel, InlinePanel, MultiFieldPanel, PublishingPanel
from wagtail.contrib.forms.models import AbstractForm, AbstractFormField
from wagtail.contrib.forms.panels import FormSubmissionsPanel
from wagtail.contrib.settings.models import BaseSiteSetting, register_setting
from wagtail.fields import RichTextField
from wagtail.models import DraftStateMixin, Page, RevisionMixin
from wagtail.search import index


class NewsCategory(models.Model):
    """Subjects that a piece of news is about."""

    name = models.CharField(max_length=60, unique=True)
    slug = models.SlugField(unique=True)
    description = models.CharField(max_length=200, blank=True)

    panels = [FieldPanel("name"), FieldPanel("slug"), FieldPanel("description")]

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "news categories"

    def __str__(self) -> str:
        return self.name


class Department(models.Model):
    """A part of the organisation that people work for."""

    name = models.CharField(max_length=60, unique=True)
    extension = models.CharField("telephone extension", max_length=8)
    office = models.CharField(max_length=80)

    panels = [FieldPanel("name"), FieldPanel("extension"), FieldPanel("office")]

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Supporter(models.Model):
    """A business, foundation or family that gives money."""

    LEVELS = [("patron", "Patron"), ("gold", "Gold"), ("silver", "Silver"), ("bronze", "Bronze")]
    KINDS = [
        ("business", "Business"),
        ("foundation", "Foundation"),
        ("family", "Family"),
        ("public", "Public body"),
    ]

    name = models.CharField(max_length=100, unique=True)
    level = models.CharField(max_length=10, choices=LEVELS)
    kind = models.CharField(max_length=12, choices=KINDS)
    annual_gift = models.PositiveIntegerField("annual gift (£)")
    since = models.DateField("supporter since")
    contact_name = models.CharField(max_length=80)
    email = models.EmailField("e-mail")
    note = models.TextField(blank=True)

    panels = [
        FieldPanel("name"),
        FieldRowPanel([FieldPanel("level"), FieldPanel("kind")]),
        FieldRowPanel([FieldPanel("annual_gift"), FieldPanel("since")]),
        MultiFieldPanel([FieldPanel("contact_name"), FieldPanel("email")], heading="Contact"),
        FieldPanel("note"),
    ]

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class CollectionObject(index.Indexed, models.Model):
    """A thing in the museum collection."""

    CONDITIONS = [("good", "Good"), ("fair", "Fair"), ("poor", "Poor"), ("treatment", "In treatment")]
    PERIODS = [
        ("medieval", "Medieval"),
        ("tudor", "Tudor and Stuart"),
        ("georgian", "Georgian"),
        ("victorian", "Victorian"),
        ("modern", "20th century"),
    ]

    accession_number = models.CharField(max_length=12, unique=True)
    title = models.CharField(max_length=120)
    period = models.CharField(max_length=12, choices=PERIODS)
    material = models.CharField(max_length=60)
    condition = models.CharField(max_length=12, choices=CONDITIONS)
    kept_at = models.ForeignKey(
        "PlacePage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    acquired = models.DateField()
    insured_value = models.PositiveIntegerField("insured value (£)")
    note = models.TextField("curator's note", blank=True)

    panels = [
        FieldRowPanel([FieldPanel("accession_number"), FieldPanel("title")]),
        FieldRowPanel([FieldPanel("period"), FieldPanel("material")]),
        FieldRowPanel([FieldPanel("condition"), FieldPanel("kept_at")]),
        FieldRowPanel([FieldPanel("acquired"), FieldPanel("insured_value")]),
        FieldPanel("note"),
    ]
    search_fields = [
        index.SearchField("title"),
        index.AutocompleteField("title"),
        index.SearchField("accession_number"),
        index.AutocompleteField("accession_number"),
        index.SearchField("material"),
        index.FilterField("period"),
        index.FilterField("condition"),
        index.FilterField("kept_at"),
    ]

    class Meta:
        ordering = ["accession_number"]
        verbose_name = "collection object"

    def __str__(self) -> str:
        return f"{self.accession_number} {self.title}"


class Notice(DraftStateMixin, RevisionMixin, models.Model):
    """A short notice that is shown above the pages, such as a closure."""

    text = models.CharField(max_length=200)
    place = models.ForeignKey("PlacePage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    urgent = models.BooleanField(default=False)

    panels = [FieldPanel("text"), FieldPanel("place"), FieldPanel("urgent"), PublishingPanel()]

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text


@register_setting(icon="mail")
class ContactDetails(BaseSiteSetting):
    """How the organisation is reached."""

    telephone = models.CharField(max_length=30)
    email = models.EmailField("e-mail")
    office_hours = models.CharField(max_length=100)
    postal_address = models.TextField()
    charity_number = models.CharField(max_length=20)

    panels = [
        FieldPanel("telephone"),
        FieldPanel("email"),
        FieldPanel("office_hours"),
        FieldPanel("postal_address"),
        FieldPanel("charity_number"),
    ]

    class Meta:
        verbose_name = "contact details"


class ListingContext(Page):
    """A page that lists the published pages below it."""

    order = "title"
    max_count = 1

    class Meta:
        abstract = True

    def get_context(self, request: HttpRequest, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The template's values, with the pages below."""
        context: dict[str, Any] = super().get_context(request, *args, **kwargs)
        pages = [page.specific for page in self.get_children().live()]
        reverse = self.order.startswith("-")
        name = self.order.lstrip("-")
        context["pages"] = sorted(pages, key=lambda page: str(getattr(page, name)), reverse=reverse)
        return context


class HomePage(Page):
    """The first page of the website."""

    template = "heritage/page.html"
    introduction = models.TextField(blank=True)
    body = RichTextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction"), FieldPanel("body")]
    parent_page_types = ["wagtailcore.Page"]
    max_count = 1

    def get_context(self, request: HttpRequest, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The template's values, with the sections."""
        context: dict[str, Any] = super().get_context(request, *args, **kwargs)
        context["pages"] = self.get_children().live().specific()
        return context


class StandardPage(Page):
    """A page of text."""

    template = "heritage/page.html"
    introduction = models.TextField(blank=True)
    body = RichTextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction"), FieldPanel("body")]
    search_fields = [*Page.search_fields, index.SearchField("introduction"), index.SearchField("body")]


class NewsIndexPage(ListingContext):
    """The list of the news."""

    template = "heritage/page.html"
    order = "-date"
    introduction = models.TextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction")]
    subpage_types = ["NewsPage"]


class PeopleIndexPage(ListingContext):
    """The list of the people."""

    template = "heritage/page.html"
    introduction = models.TextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction")]
    subpage_types = ["PersonPage"]


class PlacesIndexPage(ListingContext):
    """The list of the places."""

    template = "heritage/page.html"
    introduction = models.TextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction")]
    subpage_types = ["PlacePage"]


class EventsIndexPage(ListingContext):
    """The list of the events."""

    template = "heritage/page.html"
    order = "start_date"
    introduction = models.TextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("introduction")]
    subpage_types = ["EventPage"]


class NewsPageTag(TaggedItemBase):
    """A tag of a piece of news."""

    content_object = ParentalKey("NewsPage", on_delete=models.CASCADE, related_name="tagged_items")


class EventPageTag(TaggedItemBase):
    """A tag of an event."""

    content_object = ParentalKey("EventPage", on_delete=models.CASCADE, related_name="tagged_items")


class PersonPage(Page):
    """A member of staff or a trustee."""

    template = "heritage/person.html"
    role = models.CharField("job title", max_length=80)
    department = models.ForeignKey(
        Department, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    email = models.EmailField("e-mail", blank=True)
    telephone = models.CharField(max_length=30, blank=True)
    joined = models.DateField(null=True, blank=True)
    biography = RichTextField(blank=True)
    photo = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    content_panels = [
        *Page.content_panels,
        FieldPanel("role"),
        FieldPanel("department"),
        MultiFieldPanel([FieldPanel("email"), FieldPanel("telephone")], heading="Contact"),
        FieldPanel("joined"),
        FieldPanel("photo"),
        FieldPanel("biography"),
    ]
    search_fields = [
        *Page.search_fields,
        index.SearchField("role"),
        index.SearchField("biography"),
        index.FilterField("department"),
    ]
    parent_page_types = ["PeopleIndexPage"]
    subpage_types: list[str] = []

    class Meta:
        verbose_name = "person page"


class PlacePage(Page):
    """A house, castle, museum or other place that is open to visitors."""

    KINDS = [
        ("castle", "Castle"),
        ("museum", "Museum"),
        ("mill", "Mill or works"),
        ("church", "Church or abbey"),
        ("house", "House and garden"),
        ("railway", "Railway"),
    ]

    template = "heritage/place.html"
    kind = models.CharField(max_length=10, choices=KINDS)
    town = models.CharField(max_length=60)
    address = models.CharField(max_length=150)
    opening_hours = models.CharField(max_length=150)
    adult_price = models.DecimalField("adult admission (£)", max_digits=6, decimal_places=2)
    built = models.PositiveIntegerField("year built")
    step_free = models.BooleanField("step-free access", default=False)
    manager = models.ForeignKey(
        PersonPage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    image = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    body = RichTextField(blank=True)

    content_panels = [
        *Page.content_panels,
        FieldRowPanel([FieldPanel("kind"), FieldPanel("built")]),
        MultiFieldPanel([FieldPanel("address"), FieldPanel("town")], heading="Where it is"),
        MultiFieldPanel(
            [FieldPanel("opening_hours"), FieldPanel("adult_price"), FieldPanel("step_free")],
            heading="For visitors",
        ),
        FieldPanel("manager"),
        FieldPanel("image"),
        FieldPanel("body"),
    ]
    search_fields = [
        *Page.search_fields,
        index.SearchField("town"),
        index.SearchField("body"),
        index.FilterField("kind"),
    ]
    parent_page_types = ["PlacesIndexPage"]
    subpage_types: list[str] = []

    class Meta:
        verbose_name = "place page"


class NewsPage(Page):
    """A piece of news."""

    template = "heritage/news.html"
    date = models.DateField("news date")
    category = models.ForeignKey(
        NewsCategory, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    author = models.ForeignKey(PersonPage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    summary = models.CharField(max_length=250, blank=True)
    image = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    featured = models.BooleanField("shown on the home page", default=False)
    body = RichTextField(blank=True)
    tags = ClusterTaggableManager(through=NewsPageTag, blank=True)

    content_panels = [
        *Page.content_panels,
        FieldRowPanel([FieldPanel("date"), FieldPanel("category")]),
        FieldPanel("author"),
        FieldPanel("summary"),
        FieldPanel("image"),
        FieldPanel("body"),
        FieldPanel("tags"),
        FieldPanel("featured"),
    ]
    search_fields = [
        *Page.search_fields,
        index.SearchField("summary"),
        index.SearchField("body"),
        index.FilterField("date"),
        index.FilterField("category"),
        index.FilterField("author"),
        index.FilterField("featured"),
    ]
    parent_page_types = ["NewsIndexPage"]
    subpage_types: list[str] = []

    class Meta:
        verbose_name = "news page"


class EventPage(Page):
    """Something that visitors can come to on a day."""

    AUDIENCES = [
        ("everyone", "Everyone"),
        ("families", "Families"),
        ("adults", "Adults"),
        ("members", "Members only"),
    ]

    template = "heritage/event.html"
    start_date = models.DateField()
    start_time = models.TimeField()
    venue = models.ForeignKey(PlacePage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    audience = models.CharField(max_length=10, choices=AUDIENCES, default="everyone")
    price = models.DecimalField("ticket price (£)", max_digits=6, decimal_places=2)
    capacity = models.PositiveIntegerField("places available")
    organiser = models.ForeignKey(
        PersonPage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    image = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    body = RichTextField(blank=True)
    tags = ClusterTaggableManager(through=EventPageTag, blank=True)

    content_panels = [
        *Page.content_panels,
        FieldRowPanel([FieldPanel("start_date"), FieldPanel("start_time")]),
        FieldPanel("venue"),
        FieldRowPanel([FieldPanel("audience"), FieldPanel("price"), FieldPanel("capacity")]),
        FieldPanel("organiser"),
        FieldPanel("image"),
        FieldPanel("body"),
        FieldPanel("tags"),
    ]
    search_fields = [
        *Page.search_fields,
        index.SearchField("body"),
        index.FilterField("start_date"),
        index.FilterField("audience"),
        index.FilterField("venue"),
    ]
    parent_page_types = ["EventsIndexPage"]
    subpage_types: list[str] = []

    class Meta:
        verbose_name = "event page"


class FormField(AbstractFormField):
    """A field of a form page."""

    page = ParentalKey("FormPage", on_delete=models.CASCADE, related_name="form_fields")


class FormPage(AbstractForm):
    """A page with a form; what visitors send is kept for the editors."""

    template = "heritage/form.html"
    landing_page_template = "heritage/form_landing.html"
    introduction = models.TextField(blank=True)
    thanks = models.CharField("thank-you text", max_length=200, blank=True)

    content_panels = [
        *AbstractForm.content_panels,
        FormSubmissionsPanel(),
        FieldPanel("introduction"),
        InlinePanel("form_fields", label="Form field"),
        FieldPanel("thanks"),
    ]

    class Meta:
        verbose_name = "form page"
