// `Optional<String>` is written out because a `String?` property is implicitly initialized to nil. The compiler would
// then build the message elsewhere, copy it and release it.
// swift-format-ignore: UseShorthandTypeNames
/// A persistent message to publish.
public struct OutgoingMessage: Sendable, Hashable {
    /// The name of the exchange, at most 255 bytes. The same limit applies to the routing key and to all string
    /// properties.
    public var exchange: String
    public var routingKey: String
    /// The body. A slice of a delivery's content keeps all of the content in memory.
    @usableFromInline package var content: ArraySlice<UInt8>
    public var messageID: String
    public var correlationID: Optional<String>
    public var contentType: Optional<String>
    public var contentEncoding: Optional<String>
    public var type: Optional<String>
    public var replyTo: Optional<String>
    public var appID: Optional<String>
    /// The timestamp in seconds since 1970-01-01 UTC; nil means none.
    public var timestampSeconds: Optional<UInt64>
    /// The priority, for queues with priorities; nil means none.
    public var priority: Optional<UInt8>
    /// Whether the message carries the property `user-id`, which names the publishing user and which the broker
    /// verifies. The publisher omits the property if `Publisher.userID` is nil.
    public var carriesUserID: Bool
    /// Whether the broker returns the message if no queue is bound for it. The broker drops other such messages.
    public var isMandatory: Bool
    /// The time to live in a queue, in milliseconds. A lower limit of the queue applies instead. nil means that only
    /// the queue's limit applies.
    public var expirationMilliseconds: Optional<Int64>
    /// The headers. The headers and all other properties together must fit into one frame. The broker reserves some
    /// names that begin with `x-`.
    public var headers: FieldTable

    /// Creates a message. The initializer is inlinable, because a call would copy all members.
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
        isMandatory = true
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

    /// A copy of the body.
    public var body: [UInt8] {
        get { Array(content) }
        set { content = newValue[...] }
    }
}
