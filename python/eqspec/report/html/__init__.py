"""Results as one HTML page that needs nothing else: no network, no script, no installation."""

from eqspec.report.html.page import page

__all__ = ["page"]
