/// A password. Its descriptions do not contain it.
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

/// Provides the password of each connection attempt; nil for none. Called on the connection's loop, so it must return
/// at once. After the password has changed, the next attempt uses the new one.
public typealias PostgresPasswordSource = @Sendable () -> PostgresPassword?
