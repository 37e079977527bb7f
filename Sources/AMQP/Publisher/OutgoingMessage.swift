// Optionals are written out: `String?` would be nil by itself before the initializer sets it, and so the compiler would make
// a message somewhere else, copy it and let go of it.
// swift-format-ignore: UseShorthandTypeNames
/// A message to publish. It is always persistent and mandatory.
public struct OutgoingMessage: Sendable, Hashable {
    /// At most 255 bytes, as are the routing key and all properties that are strings.
    public var exchange: String
    public var routingKey: String
    /// The body. It may be a part of a delivery's content, all of which it keeps then.
    @usableFromInline package var content: ArraySlice<UInt8>
    public var messageID: String
    public var correlationID: Optional<String>
    public var contentType: Optional<String>
    public var contentEncoding: Optional<String>
    public var type: Optional<String>
    public var replyTo: Optional<String>
    public var appID: Optional<String>
    /// Seconds since 1970-01-01 UTC.
    public var timestampSeconds: Optional<UInt64>
    /// For queues that have priorities; nil is that of none.
    public var priority: Optional<UInt8>
    /// Whether it carries the property `user-id`, the user that publishes it, which the broker verifies. The publisher leaves
    /// the property out if it does not know that user (`Publisher.userID`).
    public var carriesUserID: Bool
    /// After so long it leaves its queue, or sooner where that says so; nil: as the queue says.
    public var expirationMilliseconds: Optional<Int64>
    /// Must fit one frame together with the other properties. Some names that begin with `x-` belong to the
    /// broker.
    public var headers: FieldTable

    /// Inlined, since all that it is made of would be copied behind a call.
    @inlinable package init(
        exchange: String, routingKey: String, content: ArraySlice<UInt8>, messageID: String,
        correlationID: String? = nil, contentType: String? = "application/json", type: String? = nil,
        headers: FieldTable = FieldTable()
    ) {
        self.exchange = exchange
        self.routingKey = routingKey
        self.content = content
        self.messageID = messageID
        self.correlationID = correlationID
        self.contentType = contentType
        contentEncoding = nil
        self.type = type
        replyTo = nil
        appID = nil
        timestampSeconds = nil
        priority = nil
        carriesUserID = false
        expirationMilliseconds = nil
        self.headers = headers
    }

    public init(
        exchange: String, routingKey: String, body: [UInt8], messageID: String,
        correlationID: String? = nil, contentType: String? = "application/json", type: String? = nil,
        headers: FieldTable = FieldTable()
    ) {
        self.init(
            exchange: exchange, routingKey: routingKey, content: body[...], messageID: messageID,
            correlationID: correlationID, contentType: contentType, type: type, headers: headers)
    }

    /// A copy.
    public var body: [UInt8] {
        get { Array(content) }
        set { content = newValue[...] }
    }
}
