"""Wagtail: the editors' back office of a heritage charity's website."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page

PASSWORD = "tamber-valley-1931"


class Wagtail(Site):
    """A Django project of ours with page types, snippets, images, documents, forms and redirects; made by Wagtail."""

    name = "wagtail"
    port = 8115
    accounts = {
        "editor": Account("r.ellis", PASSWORD),
        "moderator": Account("m.cassidy", PASSWORD),
        "administrator": Account("t.lambourne", PASSWORD),
    }
    explored = (("/admin/", "administrator"),)
    requirements = (
        "anyascii==0.3.3",
        "asgiref==3.13.0",
        "beautifulsoup4==4.15.0",
        "certifi==2026.10.18",
        "charset-normalizer==3.5.2",
        "defusedxml==0.7.1",
        "Django==5.2.19",
        "django-filter==26.2",
        "django-modelcluster==6.5",
        "django-permissionedforms==0.1",
        "django-stubs-ext==6.1.2",
        "django-taggit==6.1.0",
        "django-tasks==0.12.0",
        "django-treebeard==5.3.1",
        "djangorestframework==3.18.3",
        "draftjs_exporter==5.2.0",
        "et_xmlfile==2.0.0",
        "filetype==1.2.0",
        "idna==3.20",
        "laces==0.1.2",
        "modelsearch==1.3.2",
        "openpyxl==3.1.5",
        "pillow==13.0.0",
        "pillow_heif==1.8.1",
        "requests==2.34.2",
        "soupsieve==4.1.2",
        "sqlparse==0.6.1",
        "telepath==0.3.1",
        "time-machine==3.6.0",
        "typing_extensions==4.16.0",
        "urllib3==2.8.0",
        "wagtail==7.4.4",
        "waitress==3.0.2",
        "whitenoise==6.12.0",
        "Willow==1.12.0",
    )
    databases = ("site.sqlite3",)
    folders = ("media",)
    content: Mapping[str, str] = {
        "pages": (
            "SELECT id, title, draft_title, slug, url_path, path, live, has_unpublished_changes, seo_title, "
            "show_in_menus, search_description, go_live_at, expire_at, owner_id, locked, locked_by_id, "
            "alias_of_id FROM wagtailcore_page"
        ),
        "revisions": (
            "SELECT id, object_id, base_content_type_id, user_id, approved_go_live_at, content FROM "
            "wagtailcore_revision"
        ),
        "comments": (
            "SELECT id, page_id, user_id, text, contentpath, position, resolved_at, resolved_by_id FROM "
            "wagtailcore_comment"
        ),
        "comment_replies": "SELECT id, comment_id, user_id, text FROM wagtailcore_commentreply",
        "workflows": "SELECT id, name, active FROM wagtailcore_workflow",
        "workflow_tasks": "SELECT id, name, active, content_type_id FROM wagtailcore_task",
        "task_groups": "SELECT id, groupapprovaltask_id, group_id FROM wagtailcore_groupapprovaltask_groups",
        "workflow_steps": "SELECT id, sort_order, task_id, workflow_id FROM wagtailcore_workflowtask",
        "workflow_pages": "SELECT page_id, workflow_id FROM wagtailcore_workflowpage",
        "workflow_states": (
            "SELECT id, status, object_id, workflow_id, requested_by_id, current_task_state_id FROM "
            "wagtailcore_workflowstate"
        ),
        "task_states": (
            "SELECT id, status, task_id, workflow_state_id, revision_id, finished_by_id, comment FROM "
            "wagtailcore_taskstate"
        ),
        "page_restrictions": (
            "SELECT id, password, page_id, restriction_type FROM wagtailcore_pageviewrestriction"
        ),
        "collection_restrictions": (
            "SELECT id, restriction_type, password, collection_id FROM wagtailcore_collectionviewrestriction"
        ),
        "collections": "SELECT id, name, path FROM wagtailcore_collection",
        "collection_permissions": (
            "SELECT id, collection_id, group_id, permission_id FROM wagtailcore_groupcollectionpermission"
        ),
        "page_permissions": "SELECT id, group_id, page_id, permission_id FROM wagtailcore_grouppagepermission",
        "site_permissions": "SELECT id, group_id, permission_id, site_id FROM wagtailcore_groupsitepermission",
        "sites": "SELECT id, hostname, port, is_default_site, root_page_id, site_name FROM wagtailcore_site",
        "documents": (
            "SELECT id, title, file, collection_id, uploaded_by_user_id, file_hash FROM wagtaildocs_document"
        ),
        "images": (
            "SELECT id, title, file, description, collection_id, uploaded_by_user_id, file_hash, "
            "focal_point_x, focal_point_y, focal_point_width, focal_point_height FROM wagtailimages_image"
        ),
        "form_submissions": "SELECT id, submit_time, page_id, form_data FROM wagtailforms_formsubmission",
        "redirects": (
            "SELECT id, old_path, is_permanent, redirect_link, redirect_page_id, site_id, "
            "automatically_created, created_at, redirect_page_route_path FROM wagtailredirects_redirect"
        ),
        "tags": "SELECT id, name, slug FROM taggit_tag",
        "tagged_items": "SELECT id, object_id, content_type_id, tag_id FROM taggit_taggeditem",
        "users": (
            "SELECT id, username, first_name, last_name, email, password, is_superuser, is_staff, is_active "
            "FROM auth_user"
        ),
        "user_groups": "SELECT id, user_id, group_id FROM auth_user_groups",
        "groups": "SELECT id, name FROM auth_group",
        "group_permissions": "SELECT id, group_id, permission_id FROM auth_group_permissions",
        "user_permissions": "SELECT id, user_id, permission_id FROM auth_user_user_permissions",
        "user_profiles": (
            "SELECT user_id, submitted_notifications, approved_notifications, rejected_notifications, "
            "updated_comments_notifications, preferred_language, current_time_zone, avatar, theme, density, "
            "contrast, keyboard_shortcuts FROM wagtailusers_userprofile"
        ),
        "departments": "SELECT id, name, extension, office FROM heritage_department",
        "events_index_pages": "SELECT page_ptr_id, introduction FROM heritage_eventsindexpage",
        "form_pages": "SELECT page_ptr_id, introduction, thanks FROM heritage_formpage",
        "home_pages": "SELECT page_ptr_id, introduction, body FROM heritage_homepage",
        "news_categories": "SELECT id, name, slug, description FROM heritage_newscategory",
        "news_index_pages": "SELECT page_ptr_id, introduction FROM heritage_newsindexpage",
        "people_index_pages": "SELECT page_ptr_id, introduction FROM heritage_peopleindexpage",
        "places_index_pages": "SELECT page_ptr_id, introduction FROM heritage_placesindexpage",
        "standard_pages": "SELECT page_ptr_id, introduction, body FROM heritage_standardpage",
        "supporters": (
            "SELECT id, name, level, kind, annual_gift, since, contact_name, email, note FROM "
            "heritage_supporter"
        ),
        "contact_details": (
            "SELECT id, telephone, email, office_hours, postal_address, charity_number, site_id FROM "
            "heritage_contactdetails"
        ),
        "event_pages": (
            "SELECT page_ptr_id, start_date, start_time, audience, price, capacity, body, image_id, "
            "organiser_id, venue_id FROM heritage_eventpage"
        ),
        "event_tags": "SELECT id, content_object_id, tag_id FROM heritage_eventpagetag",
        "form_fields": (
            "SELECT id, sort_order, clean_name, label, field_type, required, choices, default_value, "
            "help_text, page_id FROM heritage_formfield"
        ),
        "news_pages": (
            "SELECT page_ptr_id, date, summary, featured, body, category_id, image_id, author_id FROM "
            "heritage_newspage"
        ),
        "news_tags": "SELECT id, content_object_id, tag_id FROM heritage_newspagetag",
        "person_pages": (
            "SELECT page_ptr_id, role, email, telephone, joined, biography, department_id, photo_id FROM "
            "heritage_personpage"
        ),
        "place_pages": (
            "SELECT page_ptr_id, kind, town, address, opening_hours, adult_price, built, step_free, body, "
            "image_id, manager_id FROM heritage_placepage"
        ),
        "notices": (
            "SELECT id, text, urgent, place_id, live, has_unpublished_changes, go_live_at, expire_at FROM "
            "heritage_notice"
        ),
        "collection_objects": (
            "SELECT id, accession_number, title, period, material, condition, acquired, insured_value, note, "
            "kept_at_id FROM heritage_collectionobject"
        ),
    }

    def fill(self) -> None:
        """Make the initial state in ``pristine``, from a fixed seed."""
        environment = {
            **self.environment(),
            "HERITAGE_STATE": str(self.pristine),
            "PYTHONHASHSEED": "0",
        }
        for command in (["-m", "django", "migrate", "-v", "0"], [str(self.data / "seed.py")]):
            subprocess.run([str(self.python), *command], check=True, env=environment, cwd=self.pristine)

    def command(self) -> Sequence[str]:
        """The server's command."""
        return [str(self.python), "-m", "heritage.wsgi", str(self.port)]

    def environment(self) -> dict[str, str]:
        """Environment variables of the server and of the seed."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "heritage.settings",
            "HERITAGE_STATE": str(self.live),
            "HERITAGE_PORT": str(self.port),
            "PYTHONPATH": str(self.data / "project"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    async def log_in(self, page: Page, account: Account) -> None:
        """Log in by the form of the back office."""
        await page.goto(f"{self.url}/admin/login/")
        await page.fill("input[name=username]", account.user)
        await page.fill("input[name=password]", account.password)
        await page.click("button[type=submit]")
        await page.wait_for_url(lambda url: "/login/" not in url)


SITE = Wagtail
