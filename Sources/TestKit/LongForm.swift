import Glibc

/// With MARTLET_LONG set, tests have the figures that the product was asked for; without, such as take seconds.
public enum LongForm {
    public static let isOn = getenv("MARTLET_LONG") != nil

    public static func pick<Value>(_ long: Value, short: Value) -> Value { isOn ? long : short }
}
