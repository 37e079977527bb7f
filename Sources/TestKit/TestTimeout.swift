/// The default timeout of tests.
///
/// Only failing tests wait this long. The timeout covers a busy machine that runs a sanitizer and temporarily stalls.
public enum TestTimeout {
    public static let seconds = 180
    public static let duration = Duration.seconds(seconds)
}
