"""The texts of the server: refusals, limits, and the errors of background jobs."""

from __future__ import annotations

# ------------------------------------------------------------------ big runs, and time

SMALLER = "use fewer processes, messages or snapshots"
YOURS_FOLLOWS = "the server is making another visitor's big run; your run starts after it"
BUSY = "the server is making another visitor's big run; try again in a few seconds"
A_PAGE = "a page"  # in errors of other modules: "... is too big for a page"


def too_long(seconds: float, advice: str) -> str:
    """The error for work that takes longer than its `seconds`."""
    return f"this takes longer than its limit of {seconds:.0f} seconds; {advice}"


def too_many_channels(count: int, most: int) -> str:
    """The error for a scenario with too many channels."""
    return f"{count} channels are more than a page can show; use at most {most}"


# ------------------------------------------------------------------ files

EXPECTED = (
    "open one .toml file, or a .top and an .events file together. You may add a .json file of delays, and the .snap "
    "files that you expect"
)
THE_DATA = "the data folder"
TOO_MANY_HELD = "The server holds too many files now. Remove some files from the form."


def no_such_files(given: str) -> str:
    """The error for files that Explore cannot open together."""
    return f"{given or 'no file'}: {EXPECTED}. A log of another program opens on the page Traces"


def file_too_big(megabytes: int) -> str:
    """The refusal of a file."""
    return f"A file may have at most {megabytes} MB here."


# ------------------------------------------------------------------ who may ask

OTHER_SERVER = "This request comes from a page of another server, so it is refused."


def unknown_name(variable: str) -> str:
    """The refusal of a request that calls the server by a name it does not have."""
    return (
        "This address has a name that the app does not know. Open the app by its computer's address: "
        f"http://192.168.1.20:8501, for example. Or start it with this name in {variable} (see docs/deploy.md)."
    )


def no_host(variable: str, host: str) -> str:
    """The error for a variable of the environment that holds no name of a host."""
    return f"{variable}: {host} is not a host name; write class.example.org, no http://"


def no_site(variable: str, site: str) -> str:
    """The error for a variable of the environment that holds no site."""
    return f"{variable}: {site} is no site; write https://moodle.example.org"


# ------------------------------------------------------------------ background jobs

ONE_OF_YOURS = "one of your jobs runs or waits already; wait for its end, or cancel it"


def is_written(name: str) -> str:
    """The error for a folder that a job writes already."""
    return f"{name}: another job writes this folder already; choose another name"


def too_many_wait(most: int) -> str:
    """The error for a full queue."""
    return f"{most} jobs wait already; wait for the end of one, or cancel one"


def turn_of_others(minutes: float) -> str:
    """The reason for which a job of a class was stopped."""
    return f"after {minutes:g} minutes, other visitors have their turn"


def unexpected(name: str, kind: str, problem: object) -> str:
    """The error for a job that failed by a mistake of the app."""
    return f"{name}: this failed unexpectedly ({kind}: {problem})"


# ------------------------------------------------------------------ a class on one server

NO_EVENTS = "--events: a class shares this server, so it cannot keep all events; write sample or none"


def too_many_runs(count: int, most: int) -> str:
    """The error for an ensemble that is too big for a class's server."""
    return (
        f"a class shares this server, and this asks for {count:,} runs; ask for at most {most:,}: give shorter lists "
        "or fewer runs (--runs)"
    )


def no_room(kept: float, most: float) -> str:
    """The error for a class that keeps too many gigabytes."""
    return (
        f"the class keeps {kept:.1f} GB of results, and {most:g} GB are the limit; delete some of yours on the page "
        "History, or ask the lecturer to delete some"
    )
