package oriel;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Times as texts of ISO 8601, and zones as rules of POSIX TZ. The rules are those of the Go package
 * schemas/mapping/calendar.
 */
final class Calendar {
  static final long DAY = 86_400;
  private static final long EARLIEST = -62_135_596_800L; // seconds of the years 1 to 9999
  private static final long LATEST = 253_402_300_800L;

  private static final Pattern INSTANT = Pattern.compile(
      "(\\d{4})-(\\d\\d)-(\\d\\d)(?:[Tt ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?([Zz]|([+-])(\\d\\d)(?::?(\\d\\d))?)?)?");
  private static final String NAME = "(?:[A-Za-z]{3,}|<[^>]{3,}>)";
  private static final String SPAN = "([+-]?)(\\d{1,3})(?::(\\d{1,3}))?(?::(\\d{1,3}))?";
  private static final Pattern RULE = Pattern.compile(NAME + SPAN + "(?:" + NAME + "(" + SPAN + ")?,([^,]+),([^,]+))?");
  private static final Pattern CHANGE = Pattern.compile("M(\\d+)\\.(\\d)\\.(\\d)(?:/" + SPAN + ")?");

  private Calendar() {}

  /** A time. Without an offset from UTC it is local, and counts seconds of the local clock. */
  record Instant(long seconds, int nanos, boolean local) {}

  static boolean holds(double seconds) {
    return seconds >= EARLIEST && seconds < LATEST;
  }

  /** The time that a whole number of units after the epoch is. */
  static Instant count(BigDecimal number, long unit) {
    BigInteger[] parts = number.toBigIntegerExact().divideAndRemainder(BigInteger.valueOf(unit));
    long seconds = parts[0].longValue();
    long rest = parts[1].longValue();
    if (rest < 0) {
      seconds--;
      rest += unit;
    }
    return new Instant(seconds, (int) (rest * (1_000_000_000 / unit)), false);
  }

  /** Parses a date, or a date with a time; null: the text is neither. */
  static Instant instant(String text) {
    Matcher m = INSTANT.matcher(text);
    if (!m.matches() || m.group(1).equals("0000")) {
      return null;
    }
    int hour = number(m.group(4));
    int minute = number(m.group(5));
    int second = number(m.group(6));
    int east = number(m.group(10));
    int more = number(m.group(11));
    if (hour > 23 || minute > 59 || second > 60 || east > 23 || more > 59) {
      return null;
    }
    long wall;
    try {
      wall = LocalDate.of(number(m.group(1)), number(m.group(2)), number(m.group(3))).toEpochDay() * DAY + hour * 3600 + minute * 60
          + second;
    } catch (DateTimeException e) {
      return null;
    }
    String digits = (m.group(7) == null ? "" : m.group(7)) + "000000000";
    long offset = (east * 3600 + more * 60) * ("-".equals(m.group(9)) ? -1 : 1);
    return new Instant(wall - offset, Integer.parseInt(digits.substring(0, 9)), m.group(8) == null);
  }

  private static int number(String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  private static long span(Matcher m, int at) {
    long length = number(m.group(at + 1)) * 3600L + number(m.group(at + 2)) * 60L + number(m.group(at + 3));
    return "-".equals(m.group(at)) ? -length : length;
  }

  /** A yearly change of the offset: the week-th weekday of a month (5: the last), some seconds after its midnight. */
  private record Change(int month, int week, int weekday, long at) {
    static Change of(String text) {
      Matcher m = CHANGE.matcher(text);
      if (!m.matches()) {
        throw new IllegalArgumentException("descriptor: not a zone");
      }
      return new Change(number(m.group(1)), number(m.group(2)), number(m.group(3)), m.group(5) == null ? 7200 : span(m, 4));
    }

    long wall(int year) {
      LocalDate first = LocalDate.of(year, month, 1);
      int date = 1 + Math.floorMod(weekday - first.getDayOfWeek().getValue(), 7) + 7 * (week - 1);
      while (date > first.lengthOfMonth()) {
        date -= 7;
      }
      return (first.toEpochDay() + date - 1) * DAY + at;
    }
  }

  /** An offset from UTC in seconds east, and with summer time the changes at which it begins and ends. */
  record Zone(long standard, long summer, Change begins, Change ends) {
    static final Zone UTC = new Zone(0, 0, null, null);

    static Zone of(String text) {
      Instant at = instant("2000-01-01T00:00" + text);
      if (text.equals("UTC") || at != null && !at.local) {
        return text.equals("UTC") ? UTC : new Zone(LocalDate.of(2000, 1, 1).toEpochDay() * DAY - at.seconds, 0, null, null);
      }
      Matcher m = RULE.matcher(text);
      if (!m.matches()) {
        throw new IllegalArgumentException("descriptor: not a zone");
      }
      long standard = -span(m, 1);
      if (m.group(10) == null) {
        return new Zone(standard, 0, null, null);
      }
      return new Zone(standard, m.group(5) == null ? standard + 3600 : -span(m, 6), Change.of(m.group(10)), Change.of(m.group(11)));
    }

    private long offset(long utc) {
      if (begins == null) {
        return standard;
      }
      int year = LocalDate.ofEpochDay(Math.floorDiv(utc + standard, DAY)).getYear();
      long from = begins.wall(year) - standard;
      long to = ends.wall(year) - summer;
      boolean within = from <= to ? from <= utc && utc < to : utc < to || from <= utc;
      return within ? summer : standard;
    }

    double since1970(Instant at) {
      long utc = at.local ? at.seconds - offset(at.seconds - standard) : at.seconds;
      return BigDecimal.valueOf(utc).add(BigDecimal.valueOf(at.nanos, 9)).doubleValue();
    }

    double part(Instant at, String part) {
      long wall = at.local ? at.seconds : at.seconds + offset(at.seconds);
      LocalDate date = LocalDate.ofEpochDay(Math.floorDiv(wall, DAY));
      return switch (part) {
        case "hour" -> Math.floorMod(wall, DAY) / 3600;
        case "weekday" -> date.getDayOfWeek().getValue();
        case "day" -> date.getDayOfMonth();
        default -> date.getMonthValue();
      };
    }
  }
}
