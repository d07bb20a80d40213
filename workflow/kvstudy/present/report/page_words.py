"""What the page itself says, apart from the report: to the template and to its scripts."""

from __future__ import annotations

from kvstudy.language.current import _, current


def page_words() -> dict[str, str]:
    """Words by their keys; names in braces are put in where they are shown."""
    return {
        "lang": current(),
        "skip": _("Skip to the text"),
        "menu": _("Contents and filter"),
        "contents": _("Contents"),
        "filter": _("Show"),
        "stores": _("Stores"),
        "workloads": _("Workloads"),
        "top": _("Back to the top"),
        "link": _("Link to this place"),
        "dark": _("Dark"),
        "light": _("Light"),
        "sort": _("Sort by this column"),
        "ascending": _("Sorted by {column}, smallest first"),
        "descending": _("Sorted by {column}, largest first"),
        "none": _("In the order of the report"),
        "hidden": _("Filtered, not complete. Hidden: {names}. The text still speaks of all."),
        "filtered_mark": _("filtered"),
        "show_all": _("Show all"),
        "all_shown": _("All stores and workloads are shown"),
        "static": _("Static drawing"),
        "interactive": _("Interactive chart"),
        "values": _("Values"),
        "values_from": _("The file {file}."),
        "values_first": _("Here are the first {shown} of {rows} rows."),
    }
