"""What rendering a page gives, and who does it."""

from dataclasses import dataclass
from typing import Protocol

from yarl import URL


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts have run.

    Attributes:
        html: its elements as they were then, without the doctype; no frames, no shadow trees.
        final_url: the address it then had, after redirects and what its scripts did; http or https.
        status: HTTP status of the answer that began it, errors included; 0 if unknown.
        is_truncated: whether the end of `html` is missing.
        notes: sentences a caller should know.
    """

    html: str
    final_url: str
    status: int
    is_truncated: bool = False
    notes: tuple[str, ...] = ()


class PageRenderer(Protocol):
    """Renders pages."""

    async def render(
        self, url: URL, *, user_agent: str, deadline: float, max_bytes: int
    ) -> Rendered:
        """Load a page, run its scripts, and read it once it has settled.

        Args:
            url: an http or https address that has passed the policy; its fragment is kept.
            user_agent: the User-Agent of all its requests.
            deadline: instant on the running loop's clock by which it ends.
            max_bytes: of the HTML in UTF-8, at most.

        Raises:
            SettingsError: the browser, or what drives it, is not there or does not start.
            PolicyError: the page, or where it led to, may not be fetched.
            TransportError: it could not be reached or rendered in time.
            ContentError: it is no page, or the browser could not cope with it.
        """
        ...

    async def aclose(self) -> None:
        """End the browser and everything it started; harmless when repeated."""
        ...
