import Glibc

/// The long form of tests, enabled by MARTLET_LONG.
///
/// The long form uses the durations and numbers that the requirements name. The short form takes seconds.
public enum LongForm {
    public static let isOn = getenv("MARTLET_LONG") != nil

    public static func pick<Value>(_ long: Value, short: Value) -> Value { isOn ? long : short }
}
