/// The password of a PostgreSQL user. Descriptions and mirrors of the value do not contain the password.
public struct PostgresPassword: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let text: String

    public init(_ text: String) {
        self.text = text
    }

    public var description: String { "a password" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A function that returns the password for each connection attempt; nil for none. The connection calls the function on
/// its loop, so the function must return immediately.
public typealias PostgresPasswordSource = @Sendable () -> PostgresPassword?
