"""Times as texts of ISO 8601, and zones as rules of POSIX TZ. The rules are those of the Go package
schemas/mapping/calendar.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

DAY = 86_400
EARLIEST, LATEST = -62_135_596_800, 253_402_300_800  # seconds of the years 1 to 9999

INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?", re.ASCII)
NAME, SPAN = r"(?:[A-Za-z]{3,}|<[^>]{3,}>)", r"([+-]?)(\d{1,3})(?::(\d{1,3}))?(?::(\d{1,3}))?"
RULE = re.compile(rf"{NAME}({SPAN})(?:{NAME}({SPAN})?,([^,]+),([^,]+))?", re.ASCII)


class Instant(NamedTuple):
    """A time. Without an offset from UTC it is local, and counts seconds of the local clock."""

    seconds: int
    nanos: int
    local: bool


def parse_instant(text: str) -> Instant | None:
    """Parses a date, or a date with a time. None: the text is neither."""
    if (m := INSTANT.fullmatch(text)) is None:
        return None
    year, month, date = int(m[1]), int(m[2]), int(m[3])
    hour, minute, second = int(m[4] or 0), int(m[5] or 0), int(m[6] or 0)
    if not (1 <= year and 1 <= month <= 12 and 1 <= date <= days_in(year, month) and hour < 24 and minute < 60 and second <= 60):
        return None
    wall = days_of(year, month, date) * DAY + hour * 3600 + minute * 60 + second
    nanos = int((m[7] or "")[:9].ljust(9, "0"))
    if m[8] is None:
        return Instant(wall, nanos, True)
    east, more = int(m[10] or 0), int(m[11] or 0)
    if east > 23 or more > 59:
        return None
    offset = east * 3600 + more * 60
    return Instant(wall + offset if m[9] == "-" else wall - offset, nanos, False)


def days_in(year: int, month: int) -> int:
    if month == 2 and (year % 4 != 0 or year % 100 == 0 and year % 400 != 0):
        return 28
    return (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_of(year: int, month: int, date: int) -> int:
    """Counts days from 1970-01-01: Hinnant, days_from_civil."""
    year -= month <= 2
    era, in_era = divmod(year, 400)
    of_year = (153 * ((month - 3) % 12) + 2) // 5 + date - 1
    return era * 146_097 + in_era * 365 + in_era // 4 - in_era // 100 + of_year - 719_468


def date_of(days: int) -> tuple[int, int, int]:
    """Inverts days_of: Hinnant, civil_from_days."""
    era, of_era = divmod(days + 719_468, 146_097)
    in_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * in_era + in_era // 4 - in_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    return in_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def span(sign: str, hours: str, minutes: str | None, seconds: str | None) -> int:
    length = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return -length if sign == "-" else length


@dataclass(frozen=True)
class Change:
    """A yearly change of the offset: the week-th weekday of a month (5: the last), some seconds after its midnight."""

    month: int
    week: int
    weekday: int
    at: int

    @classmethod
    def of(cls, text: str) -> "Change":
        m = re.fullmatch(rf"M(\d+)\.(\d)\.(\d)(?:/{SPAN})?", text, re.ASCII)
        if m is None:
            raise ValueError("descriptor: not a zone")
        return cls(int(m[1]), int(m[2]), int(m[3]), 7200 if m[5] is None else span(m[4], m[5], m[6], m[7]))

    def wall(self, year: int) -> int:
        first = days_of(year, self.month, 1)
        date = 1 + (self.weekday - (first + 4) % 7) % 7 + 7 * (self.week - 1)
        while date > days_in(year, self.month):
            date -= 7
        return (first + date - 1) * DAY + self.at


@dataclass(frozen=True)
class Zone:
    """An offset from UTC in seconds east, and with summer time the changes at which it begins and ends."""

    standard: int = 0
    summer: int = 0
    changes: tuple[Change, Change] | None = None

    @classmethod
    def of(cls, text: str) -> "Zone":
        if text == "UTC":
            return cls()
        at = parse_instant("2000-01-01T00:00" + text)
        if at is not None and not at.local:
            return cls(days_of(2000, 1, 1) * DAY - at.seconds)
        if (m := RULE.fullmatch(text)) is None:
            raise ValueError("descriptor: not a zone")
        standard = -span(m[2], m[3], m[4], m[5])
        if m[11] is None:
            return cls(standard)
        summer = standard + 3600 if m[6] is None else -span(m[7], m[8], m[9], m[10])
        return cls(standard, summer, (Change.of(m[11]), Change.of(m[12])))

    def offset(self, utc: int) -> int:
        """Returns the offset at an instant."""
        if self.changes is None:
            return self.standard
        year, _, _ = date_of((utc + self.standard) // DAY)
        begins, ends = self.changes[0].wall(year) - self.standard, self.changes[1].wall(year) - self.summer
        summer = begins <= utc < ends if begins <= ends else utc < ends or begins <= utc
        return self.summer if summer else self.standard
