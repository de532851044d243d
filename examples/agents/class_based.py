"""An agent that is a class. Methods are decorated like functions; ``self`` is not recorded, only the name of its class."""

from __future__ import annotations

from dataclasses import dataclass

import otelreplay


@dataclass(frozen=True)
class Book:
    """What the catalogue knows. A replay gives back an instance, not a dict."""

    title: str
    year: int
    shelf: tuple[str, int]


class Librarian:
    """Finds a book and says where it stands."""

    def __init__(self, library: str = "Bodleian") -> None:
        self.library = library

    @otelreplay.agent(name="librarian")
    def find(self, wish: str) -> str:
        """Answer a reader."""
        for title in self.titles(wish):
            try:
                book = self.catalogue(title)
            except LookupError:
                continue  # a failure is recorded too, and comes again in a replay
            return f"{self.library}: {book.title} ({book.year}), shelf {book.shelf[0]}{book.shelf[1]}"
        return "Not here."

    @otelreplay.model(name="titles")
    def titles(self, wish: str) -> list[str]:
        """Titles that a reader may mean; a model, scripted."""
        return [f"A Book on {wish}", f"{wish} for Beginners"]

    @otelreplay.tool
    def catalogue(self, title: str) -> Book:
        """Look a title up."""
        if "Beginners" not in title:
            raise LookupError(f"no such title: {title}")
        return Book(title, 1843, ("K", 12))


def main() -> None:
    """One run, recorded."""
    otelreplay.configure(service_name="class-based")
    print(Librarian().find("Engines"))
    otelreplay.flush()


if __name__ == "__main__":
    main()
