"""Pretix, a ticket shop with its organiser's back office: the Tidewater Arts & Science Centre's events and orders."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page

COLUMNS = {
    "pretixbase_organizer": "name, slug, plugins",
    "pretixbase_organizer_settingsstore": "key, value",
    "pretixbase_globalsettingsobject_settingsstore": "key, value",
    "pretixbase_organizerfooterlink": "label, url",
    "pretixbase_saleschannel": "label, identifier, type, position",
    "pretixbase_team": "name, all_events, require_2fa, all_event_permissions, all_organizer_permissions,"
    " limit_event_permissions, limit_organizer_permissions",
    "pretixbase_team_members": "team_id, user_id",
    "pretixbase_team_limit_events": "team_id, event_id",
    "pretixbase_teaminvite": "email, team_id",
    "pretixbase_teamapitoken": "name, active, team_id",
    "pretixbase_user": "email, fullname, is_active, is_staff, locale, timezone, notifications_send",
    "pretixbase_notificationsetting": "action_type, method, event_id, user_id, enabled",
    "pretixbase_customer": "identifier, email, name_cached, is_active, notes",
    "pretixbase_membershiptype": "name, transferable, max_usages",
    "pretixbase_membership": "date_start, date_end, customer_id, canceled",
    "pretixbase_device": "name, all_events, gate_id, revoked, security_profile",
    "pretixbase_device_limit_events": "device_id, event_id",
    "pretixbase_gate": "name, identifier",
    "pretixbase_giftcard": "secret, currency, testmode, conditions, expires",
    "pretixbase_giftcardacceptance": "issuer_id, acceptor_id, active",
    "pretixbase_giftcardtransaction": "value, card_id, order_id, text",
    "pretixbase_reusablemedium": "type, identifier, active, notes",
    "pretixbase_seatingplan": "name",
    "pretixapi_webhook": "enabled, all_events, comment, target_url",
    "pretixbase_event": "name, slug, currency, date_from, date_to, date_admission, presale_start, presale_end, plugins,"
    " live, testmode, is_public, location, is_remote, comment, has_subevents, all_sales_channels",
    "pretixbase_event_settingsstore": "object_id, key, value",
    "pretixbase_eventfooterlink": "label, url, event_id",
    "pretixbase_eventmetaproperty": 'name, "default"',
    "pretixbase_eventmetavalue": "value, event_id, property_id",
    "pretixbase_subevent": "active, name, date_from, date_to, date_admission, presale_start, presale_end, location,"
    " frontpage_text, is_public, comment, event_id",
    "pretixbase_subeventitem": "price, item_id, subevent_id, disabled",
    "pretixbase_subeventitemvariation": "price, variation_id, subevent_id, disabled",
    "pretixbase_taxrule": 'name, internal_name, rate, "default", price_includes_tax, event_id',
    "pretixbase_discount": "active, internal_name, position, condition_min_count, condition_min_value,"
    " benefit_discount_matching_percent, event_id",
    "pretixbase_itemcategory": "name, internal_name, description, position, is_addon, cross_selling_mode, event_id",
    "pretixbase_item": "name, internal_name, active, description, default_price, original_price, admission,"
    " personalized, position, picture, available_from, available_until, category_id, event_id, free_price,"
    " hide_without_voucher, require_voucher, require_approval, allow_cancel, min_per_order, max_per_order,"
    " tax_rule_id, checkin_attention, checkin_text, generate_tickets, show_quota_left,"
    " allow_waitinglist, issue_giftcard, all_sales_channels",
    "pretixbase_itemvariation": "value, active, position, default_price, original_price, description, item_id,"
    " available_from, available_until, hide_without_voucher, require_approval, checkin_attention, checkin_text",
    "pretixbase_itemaddon": "base_item_id, addon_category_id, min_count, max_count",
    "pretixbase_itembundle": "base_item_id, bundled_item_id, count",
    "pretixbase_itemprogramtime": 'item_id, start, "end"',
    "pretixbase_quota": "name, size, event_id, subevent_id, close_when_sold_out, closed, release_after_exit",
    "pretixbase_quota_items": "quota_id, item_id",
    "pretixbase_quota_variations": "quota_id, itemvariation_id",
    "pretixbase_question": "question, type, required, position, help_text, ask_during_checkin, identifier, hidden,"
    " event_id",
    "pretixbase_question_items": "question_id, item_id",
    "pretixbase_questionoption": "answer, question_id, position, identifier",
    "pretixbase_questionanswer": "answer, orderposition_id, cartposition_id, order_id, question_id",
    "pretixbase_questionanswer_options": "questionanswer_id, questionoption_id",
    "pretixbase_voucher": "code, valid_until, block_quota, allow_ignore_quota, item_id, variation_id, quota_id,"
    " redeemed, min_usages, max_usages, price_mode, value, budget, tag, comment, show_hidden_items,"
    " subevent_id, event_id",
    "pretixbase_waitinglistentry": "email, phone, name_cached, item_id, variation_id, voucher_id, subevent_id,"
    " priority, event_id",
    "pretixbase_order": "code, status, email, phone, locale, datetime, expires, total, comment, custom_followup_at,"
    " checkin_attention, checkin_text, require_approval, testmode, valid_if_pending, cancellation_date, event_id",
    "pretixbase_orderposition": "order_id, positionid, item_id, variation_id, subevent_id, price, voucher_id,"
    " attendee_name_cached, attendee_email, company, street, zipcode, city, country, addon_to_id, canceled, blocked,"
    " valid_from, valid_until, secret",
    "pretixbase_orderfee": "order_id, value, fee_type, description, canceled",
    "pretixbase_orderpayment": "order_id, local_id, state, amount, payment_date, provider",
    "pretixbase_orderrefund": "order_id, local_id, state, source, amount, provider, comment",
    "pretixbase_cancellationrequest": "order_id, cancellation_fee",
    "pretixbase_invoiceaddress": "order_id, is_business, company, name_cached, street, zipcode, city, country, state,"
    " vat_id, internal_reference, beneficiary, custom_field",
    "pretixbase_invoice": "order_id, invoice_no, full_invoice_no, is_cancellation, shredded",
    "pretixbase_cartposition": "item_id, variation_id, price, voucher_id, event_id",
    "pretixbase_checkinlist": "name, all_products, event_id, subevent_id, include_pending, allow_entry_after_exit,"
    " allow_multiple_entries, rules, exit_all_at, addon_match",
    "pretixbase_checkinlist_limit_products": "checkinlist_id, item_id",
    "pretixbase_checkinlist_gates": "checkinlist_id, gate_id",
    "pretixbase_checkin": "position_id, list_id, datetime, type, successful, error_reason, forced, gate_id",
    "pretixbase_outgoingmail": 'subject, "to", event_id, order_id, user_id',
    "pretixbase_scheduledeventexport": "export_identifier, event_id, owner_id, mail_subject",
    "pretixbase_scheduledorganizerexport": "export_identifier, owner_id, mail_subject",
    "sendmail_rule": "subject, template, enabled, send_to, event_id",
    "ticketoutputpdf_ticketlayout": 'name, "default", event_id',
    "banktransfer_bankimportjob": "state, event_id, organizer_id",
    "banktransfer_banktransaction": "state, amount, payer, reference, order_id, comment",
}
"""Tables of what the organiser and the customers own, with the columns that only a write changes."""

UNTOUCHED = {
    "pretixbase_event_settingsstore": " WHERE key NOT LIKE '%hidden_seed'"
    " AND NOT (key LIKE '%fee_reverse_calc' AND value = 'True')",
}
"""Rows to leave out: settings that pretix writes by itself when an event's payment methods are shown first."""


def named(table: str) -> str:
    """A table's short name."""
    return re.sub(r"^pretix(base|api)_", "", table)


class Pretix(Site):
    """The ticket shop and its back office under /control/."""

    name = "pretix"
    port = 8112
    accounts = {
        "admin": Account("ingrid.solberg@tidewater.example", "harbour-lantern-41"),
        "manager": Account("marcus.oyelaran@tidewater.example", "tidal-mooring-27"),
        "boxoffice": Account("priya.raman@tidewater.example", "copper-anchor-58"),
    }
    explored = (
        ("/control/", "manager"),
        ("/control/event/tidewater/cec27/", "manager"),
        ("/control/organizer/tidewater/", "manager"),
        ("/tidewater/", ""),
    )
    requirements = ("pretix==2026.8.0", "gunicorn==27.0.1", "whitenoise==6.12.0")
    databases = ("db.sqlite3",)
    folders = ("media",)
    content = {
        named(table): f"SELECT id, {columns} FROM {table}{UNTOUCHED.get(table, '')}"
        for table, columns in COLUMNS.items()
    }

    def environment(self) -> dict[str, str]:
        """Settings of pretix, whose data folder is the working folder."""
        return {
            **{key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")},
            "DJANGO_SETTINGS_MODULE": "tidewater_settings",
            "PYTHONPATH": str(self.data),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PRETIX_CONFIG_FILE": os.devnull,
            "PRETIX_PRETIX_URL": self.url,
            "PRETIX_PRETIX_DATADIR": ".",
            "PRETIX_PRETIX_INSTANCE_NAME": "Tidewater Tickets",
            "PRETIX_PRETIX_REGISTRATION": "False",
            "PRETIX_PRETIX_PLUGINS_SHOW_META": "False",
            "PRETIX_PRETIX_ECB_RATES": "False",
            "PRETIX_DJANGO_DEBUG": "False",
            "PRETIX_DJANGO_SECRET": "only-for-the-measuring-site-on-this-machine-0000000",
            "PRETIX_DJANGO_PASSWORDS_ARGON2": "False",
            "PRETIX_LOCALE_TIMEZONE": "Europe/Dublin",
        }

    def fill(self) -> None:
        """Migrate an empty database (a minute) and seed it."""
        for arguments in (["-m", "django", "migrate", "-v", "0"], [str(self.data / "seed.py")]):
            subprocess.run(
                [str(self.python), *arguments],
                check=True,
                cwd=self.pristine,
                env=self.environment(),
                stdout=subprocess.DEVNULL,
            )
        shutil.rmtree(self.pristine / "logs", ignore_errors=True)

    def command(self) -> Sequence[str]:
        """One worker with a few threads; pretix runs its background tasks within the request."""
        return [
            str(self.python),
            *("-m", "gunicorn", "tidewater_wsgi", "--bind", f"127.0.0.1:{self.port}"),
            *("--workers", "1", "--threads", "4", "--timeout", "120", "--log-level", "warning"),
        ]

    async def log_in(self, page: Page, account: Account) -> None:
        """Log in at the back office and stay logged in."""
        await page.goto(f"{self.url}/control/login")
        await page.fill("input[name=email]", account.user)
        await page.fill("input[name=password]", account.password)
        await page.check("input[name=keep_logged_in]")
        await page.click("form button[type=submit]")
        await page.wait_for_url(lambda address: "/login" not in address)


SITE = Pretix
