"""Fill the website's database and media folder with fixed rows; run in the site's environment after ``migrate``."""

from __future__ import annotations

import io
import random
import uuid
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

LONDON = ZoneInfo("Europe/London")
CHANCE = random.Random(20261115)
uuid.uuid4 = lambda: uuid.UUID(
    int=CHANCE.getrandbits(128), version=4
)  # before the models take it as a default

import django  # noqa: E402

django.setup()

import time_machine  # noqa: E402
import words  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.core.files.base import ContentFile  # noqa: E402
from django.core.files.images import ImageFile  # noqa: E402
from heritage import models  # noqa: E402
from PIL import Image as Picture  # noqa: E402
from PIL import ImageDraw  # noqa: E402
from wagtail.contrib.forms.models import FormSubmission  # noqa: E402
from wagtail.contrib.redirects.models import Redirect  # noqa: E402
from wagtail.documents.models import Document  # noqa: E402
from wagtail.images.models import Image  # noqa: E402
from wagtail.log_actions import LogContext, log  # noqa: E402
from wagtail.models import (  # noqa: E402
    Collection,
    Comment,
    CommentReply,
    GroupApprovalTask,
    GroupPagePermission,
    Page,
    Site,
    Workflow,
    WorkflowPage,
    WorkflowTask,
)
from wagtail.users.models import UserProfile  # noqa: E402

USERS = [
    # user name, first name, last name, e-mail's beginning, groups, superuser, active, joined
    ("a.thornbury", "Agnes", "Thornbury", ["Moderators"], False, True, "2024-02-05"),
    ("t.lambourne", "Theresa", "Lambourne", [], True, True, "2024-01-15"),
    ("m.cassidy", "Moira", "Cassidy", ["Moderators"], False, True, "2024-02-06"),
    ("r.ellis", "Rowan", "Ellis", ["Editors"], False, True, "2024-01-16"),
    ("k.boateng", "Kwame", "Boateng", ["Editors"], False, True, "2024-03-11"),
    ("l.anstruther", "Lucy", "Anstruther", ["Editors", "Events team"], False, True, "2024-03-12"),
    ("s.okonkwo", "Samuel", "Okonkwo", ["Curators", "Editors"], False, True, "2024-04-08"),
    ("d.vaughan", "Dilys", "Vaughan", ["Curators"], False, True, "2024-04-09"),
    ("j.quill", "Jasper", "Quill", ["Events team"], False, True, "2024-09-02"),
    ("p.zielinski", "Piotr", "Zielinski", ["Events team"], False, True, "2025-01-20"),
    ("o.brandt", "Oskar", "Brandt", ["Editors"], False, False, "2024-05-20"),
    ("v.lisle", "Verity", "Lisle", ["Curators"], False, False, "2024-06-17"),
]
PASSWORD = "tamber-valley-1931"


def paragraph(text: str) -> str:
    """A paragraph with a key, as the editor keeps it, so that saving it again changes nothing."""
    return f'<p data-block-key="{"".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=5))}">{text}</p>'


class Seed:
    """The rows, made in order, each at its own moment."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.users: dict[str, User] = {}
        self.images: dict[str, Image] = {}

    def at(self, day: str, hour: int = 0, minute: int = 0) -> None:
        """Set the clock; without an hour to one of the working day."""
        on = date.fromisoformat(day)
        hour, minute = hour or CHANCE.randint(9, 16), minute or CHANCE.randint(1, 59)
        self.clock.move_to(datetime.combine(on, time(hour, minute, 0), LONDON))

    def make(self) -> None:
        """Make all."""
        self.at("2024-01-15", 9, 1)
        self.root = Page.get_first_root_node()
        self.accounts()
        self.pictures()
        self.documents()
        self.tree()
        self.people()
        self.places()
        self.news()
        self.events()
        self.forms()
        self.snippets()
        self.redirects()
        self.comments()

    def accounts(self) -> None:
        """Groups with their permissions, people who log in, workflows."""
        groups = {
            name: Group.objects.get_or_create(name=name)[0] for name in ("Curators", "Editors", "Events team")
        }
        groups["Moderators"] = Group.objects.get(name="Moderators")
        access = Permission.objects.get(codename="access_admin")
        for group in groups.values():
            group.permissions.add(access)
        allowed = {
            "Curators": ["collectionobject"],
            "Editors": ["collectionobject", "notice"],
            "Moderators": [
                "collectionobject",
                "notice",
                "supporter",
                "newscategory",
                "department",
                "redirect",
            ],
        }
        for name, kinds in allowed.items():
            for kind in kinds:
                actions = ["add", "change", "delete"] if name == "Moderators" else ["add", "change"]
                if kind == "notice" and name == "Moderators":
                    actions.append("publish")
                codes = [f"{action}_{kind}" for action in actions]
                groups[name].permissions.add(*Permission.objects.filter(codename__in=codes))
        for user, first, last, member, power, active, joined in USERS:
            self.at(joined)
            made = User.objects.create(
                username=user,
                first_name=first,
                last_name=last,
                email=f"{user}@tambervalley.example",
                password=make_password(PASSWORD, salt=f"{user:0<24}"),
                is_superuser=power,
                is_staff=power,
                is_active=active,
            )
            made.groups.add(*(groups[name] for name in member))
            UserProfile.objects.create(user=made, current_time_zone="Europe/London")
            log(instance=made, action="wagtail.create", user=self.users.get("t.lambourne", made))
            self.users[user] = made
        self.groups = groups

    def workflows(self, places: Page) -> None:
        """The review of places, by two groups; all else goes to the moderators."""
        check = GroupApprovalTask.objects.create(name="Facts checked by a curator")
        check.groups.add(self.groups["Curators"])
        final = GroupApprovalTask.objects.create(name="Final sign-off")
        final.groups.add(self.groups["Moderators"])
        review = Workflow.objects.create(name="Review of places")
        for order, task in enumerate((check, final)):
            WorkflowTask.objects.create(workflow=review, task=task, sort_order=order)
        WorkflowPage.objects.create(workflow=review, page=places)

    def pictures(self) -> None:
        """A drawing of each place from two sides, of some people and of some things."""
        top = Collection.get_first_root_node()
        self.collections = {
            name: top.add_child(name=name)
            for name in (
                "Places",
                "People",
                "Objects",
                "Learning resources",
                "Policies",
                "Reports",
                "Visitor guides",
            )
        }
        for place in words.PLACES:
            for number, side in enumerate(("from the south", "in winter")):
                title = f"{place[0]} {side}"
                tags = [place[1], "winter" if number else "summer"]
                self.picture(title, "Places", tags, f"2025-0{1 + number * 2}-{10 + CHANCE.randint(0, 15)}")
        for person in words.PEOPLE[:14]:
            self.picture(f"Portrait of {person[0]}", "People", ["portrait", "staff"], "2025-02-11")
        for title, _, period in words.OBJECTS[::5]:
            self.picture(title, "Objects", ["object", period], "2025-04-08")

    def picture(self, title: str, collection: str, tags: Sequence[str], day: str) -> None:
        """Draw one picture and add it to the images."""
        self.at(day)
        high = collection == "People"
        wide, tall = (480, 600) if high else (CHANCE.choice((800, 900, 1000)), 600)
        sky = tuple(CHANCE.randint(150, 235) for _ in range(3))
        ground = tuple(CHANCE.randint(50, 140) for _ in range(3))
        stone = tuple(CHANCE.randint(90, 200) for _ in range(3))
        canvas = Picture.new("RGB", (wide, tall), sky)
        draw = ImageDraw.Draw(canvas)
        draw.rectangle((0, tall * 2 // 3, wide, tall), fill=ground)
        if high:
            draw.ellipse((wide // 3, tall // 5, wide * 2 // 3, tall // 2), fill=stone)
            draw.ellipse((wide // 6, tall // 2, wide * 5 // 6, tall * 5 // 4), fill=ground)
        else:
            left = CHANCE.randint(80, 200)
            for tower in range(CHANCE.randint(2, 5)):
                height = CHANCE.randint(120, 320)
                side = left + tower * 110
                draw.rectangle((side, tall * 2 // 3 - height, side + 100, tall * 2 // 3), fill=stone)
        held = io.BytesIO()
        canvas.save(held, "JPEG", quality=70)
        name = "".join(one if one.isalnum() else "_" for one in title.lower())
        image = Image(
            title=title,
            collection=self.collections[collection],
            uploaded_by_user=CHANCE.choice(
                [self.users["r.ellis"], self.users["s.okonkwo"], self.users["k.boateng"]]
            ),
            description=f"A picture of {title}",
            file=ImageFile(io.BytesIO(held.getvalue()), name=f"{name}.jpg"),
        )
        image.file_size = len(held.getvalue())
        image._set_file_hash()
        image.save()
        image.tags.add(*tags)
        log(instance=image, action="wagtail.create", user=image.uploaded_by_user)
        self.images[title] = image

    def documents(self) -> None:
        """Text files; their words don't matter."""
        for title, collection in words.DOCUMENTS:
            self.at(f"2025-{CHANCE.randint(1, 12):02}-{CHANCE.randint(1, 28):02}")
            name = "".join(one if one.isalnum() else "-" for one in title.lower())
            document = Document(
                title=title,
                collection=self.collections[collection],
                uploaded_by_user=CHANCE.choice([self.users["r.ellis"], self.users["d.vaughan"]]),
            )
            lines = "\n".join(
                CHANCE.choice(words.SENTENCES["Trust news"]) for _ in range(CHANCE.randint(4, 40))
            )
            content = f"{title}\nTamber Valley Heritage Trust\n\n{lines}\n".encode()
            document.file.save(f"{name}.txt", ContentFile(content), save=False)
            document.file_size = len(content)
            document._set_file_hash()
            document.save()
            document.tags.add(collection.lower())
            log(instance=document, action="wagtail.create", user=document.uploaded_by_user)

    def add(self, parent: Page, page: Page, user: str, state: str = "live", publisher: str = "") -> Page:
        """Add a page and bring it to its state; the clock is at the first edit."""
        author = self.users[user]
        other = self.users[publisher or "t.lambourne"]
        page.owner = author
        page.live = False
        tags = list(page.tags.all()) if hasattr(page, "tags") else []
        with LogContext(user=author):
            parent.add_child(instance=page)
        if tags:
            page.tags.set(tags)
        revision = page.save_revision(user=author, log_action=True)
        if state in ("live", "changed", "unpublished", "scheduled"):
            self.clock.shift(timedelta(minutes=CHANCE.randint(5, 50)))
            revision.publish(user=other)
        if state == "unpublished":
            self.clock.shift(timedelta(days=CHANCE.randint(40, 90)))
            type(page).objects.get(pk=page.pk).unpublish(user=other)
        return type(page).objects.get(pk=page.pk)

    def submit(self, page: Page, user: str) -> None:
        """Send a page to its workflow."""
        self.clock.shift(timedelta(minutes=CHANCE.randint(5, 50)))
        page.get_workflow().start(page, self.users[user])

    def tree(self) -> None:
        """The home page, the sections and the pages about the organisation."""
        self.at("2025-01-03", 9, 10)
        Page.objects.filter(depth=2).delete()
        self.root = Page.get_first_root_node()
        home = models.HomePage(
            title="Tamber Valley Heritage Trust",
            slug="home",
            introduction="We look after sixteen castles, mills, houses and museums, and open them to everyone.",
            body=paragraph("Come and see us; members get in free."),
        )
        self.home = self.add(self.root, home, "t.lambourne")
        Site.objects.all().delete()
        Site.objects.create(
            hostname="127.0.0.1", port=8115, root_page=self.home, is_default_site=True, site_name=home.title
        )
        sections = [
            (models.NewsIndexPage, "News", "What has happened in the valley."),
            (models.PeopleIndexPage, "People", "Staff and trustees."),
            (models.PlacesIndexPage, "Places", "Sixteen places to visit."),
            (models.EventsIndexPage, "Events", "Days out, workshops and evenings."),
            (models.StandardPage, "About us", "An independent charity since 1931."),
        ]
        self.section: dict[str, Page] = {}
        for kind, title, text in sections:
            self.clock.shift(timedelta(minutes=7))
            slug = {"slug": "about"} if title == "About us" else {}
            self.section[title] = self.add(
                self.home, kind(title=title, introduction=text, **slug), "t.lambourne"
            )
        for title, text in words.STANDARD:
            self.at(f"2025-01-{CHANCE.randint(6, 10):02}")
            about = models.StandardPage(title=title, introduction=text, body=self.prose("Trust news", 3))
            self.add(self.section["About us"], about, "r.ellis")
        self.workflows(self.section["Places"])
        GroupPagePermission.objects.bulk_create(
            GroupPagePermission(
                group=self.groups["Events team"],
                page=self.section["Events"],
                permission=Permission.objects.get(content_type__app_label="wagtailcore", codename=code),
            )
            for code in ("add_page", "change_page", "publish_page")
        )

    def prose(self, kind: str, count: int) -> str:
        """A few paragraphs."""
        chosen = CHANCE.sample(words.SENTENCES[kind], count)
        return "".join(paragraph(one) for one in chosen)

    def people(self) -> None:
        """Staff and trustees."""
        departments = {}
        for name, extension, office in words.DEPARTMENTS:
            self.at("2024-02-01")
            departments[name] = models.Department.objects.create(
                name=name, extension=extension, office=office
            )
        self.person: dict[str, Page] = {}
        for name, role, department, joined, ending in words.PEOPLE:
            self.at(f"2025-01-{CHANCE.randint(10, 28):02}")
            plain = name.removeprefix("Sir ").lower().split()
            page = models.PersonPage(
                title=name,
                role=role,
                department=departments[department],
                email=f"{plain[0]}.{plain[-1]}@tambervalley.example",
                telephone=f"01632 96{ending}",
                joined=date.fromisoformat(joined),
                photo=self.images.get(f"Portrait of {name}"),
                biography=paragraph(f"{name} joined the Trust in {joined[:4]} as part of {department}."),
            )
            self.person[name] = self.add(
                self.section["People"], page, CHANCE.choice(("r.ellis", "k.boateng"))
            )

    def places(self) -> None:
        """The places; one has a change in review."""
        self.place: dict[str, Page] = {}
        for title, kind, town, address, hours, price, built, step_free, manager, text in words.PLACES:
            self.at(f"2025-02-{CHANCE.randint(3, 26):02}")
            page = models.PlacePage(
                title=title,
                kind=kind,
                town=town,
                address=address,
                opening_hours=hours,
                adult_price=Decimal(price),
                built=built,
                step_free=step_free,
                manager=self.person[manager],
                image=self.images[f"{title} from the south"],
                body=paragraph(text) + self.prose("Visiting", 2),
            )
            user = CHANCE.choice(("r.ellis", "s.okonkwo"))
            self.place[title] = self.add(self.section["Places"], page, user, "live", "m.cassidy")
        self.at("2026-11-03")
        changed = self.place["Ashgill Lead Works"]
        changed.opening_hours = "Saturday and Sunday, 11.00 to 16.00"
        changed.save_revision(user=self.users["r.ellis"], log_action=True)
        self.submit(changed, "r.ellis")
        self.at("2026-10-13")
        changed = self.place["Merrow House"]
        changed.adult_price = Decimal("9.50")
        changed.save_revision(user=self.users["s.okonkwo"], log_action=True)

    def news(self) -> None:
        """The news in all states."""
        categories = {}
        for name, text in words.CATEGORIES:
            self.at("2024-02-02")
            slug = name.lower().replace(" ", "-")
            categories[name] = models.NewsCategory.objects.create(name=name, slug=slug, description=text)
        places = list(words.PLACES)
        for number, (title, category, day, author, tags, state) in enumerate(words.NEWS):
            later = date.fromisoformat(day).year > 2026 or (state == "scheduled")
            self.at("2026-11-11" if later else day)
            body = self.prose(category, 3)
            named = next((place[0] for place in places if place[0] in title), "")
            image = self.images.get(f"{named} from the south")
            page = models.NewsPage(
                title=title,
                date=date.fromisoformat(day),
                category=categories[category],
                author=self.person[author],
                summary=str(CHANCE.choice(words.SENTENCES[category])),
                image=image,
                featured=number % 9 == 5,
                body=body,
            )
            page.tags.add(*tags.split(","))
            if state == "scheduled":
                page.go_live_at = datetime.combine(date.fromisoformat(day), time(9, 0), LONDON)
            user = CHANCE.choice(("r.ellis", "k.boateng", "s.okonkwo", "r.ellis"))
            publisher = CHANCE.choice(("t.lambourne", "a.thornbury", "m.cassidy"))
            page = self.add(self.section["News"], page, user, state, publisher)
            if state == "changed":
                self.clock.shift(timedelta(days=2, minutes=12))
                page.summary = f"{page.summary} More will follow."
                page.save_revision(user=self.users["k.boateng"], log_action=True)
            if state == "moderation":
                self.submit(page, user)
            if title in ("Annual report for 2025-26 is out", "Free entry for carers from July"):
                self.clock.shift(timedelta(days=1))
                page.locked, page.locked_by, page.locked_at = (
                    True,
                    self.users["a.thornbury"],
                    datetime.now(LONDON),
                )
                page.save()
                log(instance=page, action="wagtail.lock", user=self.users["a.thornbury"])

    def events(self) -> None:
        """The events in all states."""
        for title, day, hour, venue, audience, price, capacity, organiser, tags, state in words.EVENTS:
            begun = min(date.fromisoformat(day) - timedelta(days=CHANCE.randint(50, 100)), date(2026, 11, 6))
            self.at(begun.isoformat())
            page = models.EventPage(
                title=title,
                start_date=date.fromisoformat(day),
                start_time=time.fromisoformat(hour),
                venue=self.place[venue],
                audience=audience,
                price=Decimal(price),
                capacity=capacity,
                organiser=self.person[organiser],
                image=self.images[f"{venue} {'in winter' if 'christmas' in tags else 'from the south'}"],
                body=self.prose("Event", 3),
            )
            page.tags.add(*tags.split(","))
            if state == "scheduled":
                page.go_live_at = datetime(2027, 7, 1, 8, 0, tzinfo=LONDON)
            user = CHANCE.choice(("l.anstruther", "j.quill", "p.zielinski"))
            page = self.add(self.section["Events"], page, user, state, user)
            if state == "changed":
                self.clock.shift(timedelta(days=6))
                page.capacity = 160
                page.save_revision(user=self.users[user], log_action=True)
            if state == "moderation":
                self.submit(page, user)

    def forms(self) -> None:
        """Three forms and what visitors sent."""
        self.at("2025-01-09")
        groups = ["Under 10", "10 to 20", "21 to 30", "More than 30"]
        areas = ["Gardens", "Guiding", "Looms", "Railway", "Tea room"]
        subjects = ["Admission", "Membership", "Lost property", "Photographs", "Something else"]
        forms = [
            ("Contact us", "Write to us; we answer within five working days.", "Thank you, we will write back soon.", [
                ("Name", "singleline", []), ("E-mail", "email", []), ("Subject", "dropdown", subjects),
                ("Message", "multiline", []),
            ]),
            ("Book a school visit", "For teachers in the valley and beyond.", "Thank you, Toby will ring you.", [
                ("School", "singleline", []), ("Teacher", "singleline", []), ("Place", "singleline", []),
                ("Date of the visit", "date", []), ("Pupils", "dropdown", groups),
            ]),
            ("Volunteer with us", "Tell us what you would like to do.", "Thank you for offering your time.", [
                ("Name", "singleline", []), ("E-mail", "email", []), ("Area", "radio", areas),
                ("Days a month", "number", []),
            ]),
        ]  # fmt: skip
        for title, text, thanks, fields in forms:
            page = models.FormPage(title=title, introduction=text, thanks=thanks)
            page.form_fields = [
                models.FormField(sort_order=order, label=label, field_type=kind, choices="\r\n".join(choices))
                for order, (label, kind, choices) in enumerate(fields)
            ]
            made = self.add(self.section["About us"], page, "r.ellis")
            names = [field.clean_name for field in made.form_fields.all()]
            for _ in range({"Contact us": 46, "Book a school visit": 31, "Volunteer with us": 24}[title]):
                person = f"{CHANCE.choice(words.FORENAMES)} {CHANCE.choice(words.SURNAMES)}"
                mail = f"{person.lower().replace(' ', '.')}@post.example"
                when = date(2025, 3, 1) + timedelta(days=CHANCE.randint(0, 610))
                self.at(when.isoformat())
                if title == "Contact us":
                    subject = CHANCE.choices(subjects, [5, 4, 8, 3, 2])[0]
                    values = [person, mail, subject, CHANCE.choice(words.QUESTIONS)]
                elif title == "Book a school visit":
                    town = CHANCE.choice(words.PLACES)[2]
                    school = f"{town} {CHANCE.choice(('Primary', 'Academy', 'Infants'))} School"
                    day = (when + timedelta(days=CHANCE.randint(20, 90))).isoformat()
                    values = [school, person, CHANCE.choice(words.PLACES)[0], day, CHANCE.choice(groups)]
                else:
                    values = [person, mail, CHANCE.choice(areas), str(CHANCE.randint(1, 8))]
                FormSubmission.objects.create(page=made, form_data=dict(zip(names, values, strict=True)))
            self.at("2025-01-09")

    def snippets(self) -> None:
        """Supporters, the collection, notices and the contact details."""
        director = self.users["t.lambourne"]
        for name, level, kind, gift, since, contact in words.SUPPORTERS:
            self.at("2024-03-05")
            host = name.split()[0].lower().replace("'", "")
            mail = f"{contact.split()[-1].lower()}@{host}.example"
            supporter = models.Supporter.objects.create(
                name=name,
                level=level,
                kind=kind,
                annual_gift=gift,
                since=date.fromisoformat(since),
                contact_name=contact,
                email=mail,
            )
            log(instance=supporter, action="wagtail.create", user=director)
        values = CHANCE.sample(range(40, 4000), len(words.OBJECTS))
        order = list(range(len(words.OBJECTS)))
        CHANCE.shuffle(order)
        years = sorted(CHANCE.randint(1952, 2024) for _ in order)
        count: dict[int, int] = {}
        museums = [place[0] for place in words.PLACES if place[1] in ("museum", "house", "castle")]
        for position, year in zip(order, years, strict=True):
            title, material, period = words.OBJECTS[position]
            count[year] = count.get(year, 0) + 1
            self.at(f"2025-{CHANCE.randint(1, 10):02}-{CHANCE.randint(1, 28):02}")
            made = models.CollectionObject.objects.create(
                accession_number=f"{year}.{count[year] * 7}",
                title=title,
                material=material,
                period=period,
                condition=CHANCE.choices(["good", "fair", "poor", "treatment"], [5, 4, 2, 1])[0],
                kept_at=self.place[CHANCE.choice(museums)],
                acquired=date(year, CHANCE.randint(1, 12), CHANCE.randint(1, 28)),
                insured_value=values[position] * 10,
            )
            log(instance=made, action="wagtail.create", user=self.users["d.vaughan"])
        for text, place, urgent, live in words.NOTICES:
            self.at(f"2026-{CHANCE.randint(4, 10):02}-{CHANCE.randint(1, 28):02}")
            notice = models.Notice(text=text, place=self.place.get(place), urgent=urgent, live=False)
            notice.save()
            log(instance=notice, action="wagtail.create", user=self.users["k.boateng"])
            revision = notice.save_revision(user=self.users["k.boateng"], log_action=True)
            if live:
                revision.publish(user=director)
        models.ContactDetails.objects.create(
            site=Site.objects.get(),
            telephone="01632 960100",
            email="hello@tambervalley.example",
            office_hours="Monday to Friday, 9.00 to 16.30",
            postal_address="12 Cornmarket\nTamberford\nTF1 4QQ",
            charity_number="2190431",
        )

    def redirects(self) -> None:
        """Old addresses."""
        site = Site.objects.get()
        for number, (old, new, permanent) in enumerate(words.REDIRECTS):
            self.at(f"2025-{1 + number % 9:02}-{3 + number % 20:02}")
            page = Page.objects.get(title=new, depth__gt=2)
            made = Redirect.objects.create(
                old_path=Redirect.normalise_path(old),
                site=site if number % 3 == 0 else None,
                is_permanent=permanent,
                redirect_page=page,
            )
            log(instance=made, action="wagtail.create", user=self.users["t.lambourne"])

    def comments(self) -> None:
        """Remarks that people made on pages in the editor."""
        remarks = [
            ("Quilts of the valley", "summary", "k.boateng", "Do we have the lender's leave to name her?", "s.okonkwo",
             "Yes, she wrote on Monday."),
            ("A bursary for young stonemasons", "body", "a.thornbury", "Please add the closing date.", "", ""),
            ("Letters of a mill girl", "title", "s.okonkwo", "Is she the same girl as in the wages book?", "", ""),
            ("Mining gallery closes for rewiring", "date", "m.cassidy", "The electricians come a week later.",
             "r.ellis", "I will move the date."),
            ("Carols in the great hall", "capacity", "l.anstruther", "The fire officer allows 160 now.", "", ""),
        ]  # fmt: skip
        for title, field, user, text, other, reply in remarks:
            self.at("2026-11-13")
            page = Page.objects.get(title=title)
            made = Comment.objects.create(
                page=page,
                user=self.users[user],
                text=text,
                contentpath=field,
                revision_created=page.latest_revision,
            )
            if reply:
                self.clock.shift(timedelta(minutes=40))
                CommentReply.objects.create(comment=made, user=self.users[other], text=reply)


def main() -> None:
    """Make the state."""
    with time_machine.travel(datetime(2024, 1, 15, 9, 1, tzinfo=LONDON), tick=False) as clock:
        Seed(clock).make()


if __name__ == "__main__":
    main()
