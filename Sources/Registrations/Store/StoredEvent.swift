public import Crypto

/// An event in the table `event`. It remains there until a process deletes it after a publish.
public struct StoredEvent: Sendable, Hashable {
    /// A random UUID, the same at each publish.
    public var id: UUIDValue
    /// The bundle ID.
    public var app: String
    /// The body of the message (`schemas/registration-event.schema.json`). It is secret.
    public var body: [UInt8]
    /// Whether a receiver obtained the event before, so that the event may already be published.
    public var mayBeDuplicate: Bool

    public init(id: UUIDValue, app: String, body: [UInt8], mayBeDuplicate: Bool) {
        (self.id, self.app, self.body, self.mayBeDuplicate) = (id, app, body, mayBeDuplicate)
    }
}

/// The deletion of published events.
open class EventDeletion {
    public let ids: [UUIDValue]

    public init(_ ids: [UUIDValue]) {
        self.ids = ids
    }

    open func completed() { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
