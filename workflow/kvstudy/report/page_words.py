"""What the page itself says, apart from the report: to the template and to its scripts."""

from __future__ import annotations


def page_words() -> dict[str, str]:
    """Words by their keys; names in braces are put in where they are shown."""
    return {
        "lang": "en",
        "skip": "Skip to the text",
        "menu": "Contents and filter",
        "contents": "Contents",
        "filter": "Show",
        "stores": "Stores",
        "workloads": "Workloads",
        "top": "Back to the top",
        "link": "Link to this place",
        "dark": "Dark",
        "light": "Light",
        "sort": "Sort by this column",
        "ascending": "Sorted by {column}, smallest first",
        "descending": "Sorted by {column}, largest first",
        "none": "In the order of the report",
        "hidden": "Filtered, not complete. Hidden: {names}. The text still speaks of all.",
        "filtered_mark": "filtered",
        "show_all": "Show all",
        "all_shown": "All stores and workloads are shown",
        "static": "Static drawing",
        "interactive": "Interactive chart",
        "values": "Values",
        "values_from": "The file {file}.",
        "values_first": "Here are the first {shown} of {rows} rows.",
    }
