public import APNSProtocol
public import Crypto

/// The conditions of a search in the request log. All conditions that are not nil must be met.
public struct RequestQuery: Sendable, Hashable {
    /// Maximum number of requests on one page.
    public static let limitMax = 1000
    public static let limitDefault = 100

    /// The request number after which the search begins. The search then returns the oldest matches. With nil, it
    /// returns the newest matches.
    public var after: Int?
    /// The request number before which the search ends; nil sets no end.
    public var before: Int?
    /// Maximum number of results, from 1 to ``limitMax``.
    public var limit: Int { didSet { limit = min(max(limit, 1), Self.limitMax) } }
    public var apnsID: UUIDValue?
    /// The start of the device token, in hexadecimal digits of either case.
    public var devicePrefix: String?
    public var topic: String?
    public var status: Int?
    public var reason: Reason?
    public var connection: Int?

    public init(
        after: Int? = nil, before: Int? = nil, limit: Int = limitDefault, apnsID: UUIDValue? = nil,
        devicePrefix: String? = nil,
        topic: String? = nil, status: Int? = nil, reason: Reason? = nil, connection: Int? = nil
    ) {
        self.after = after
        self.before = before
        self.limit = min(max(limit, 1), Self.limitMax)
        self.apnsID = apnsID
        self.devicePrefix = devicePrefix
        self.topic = topic
        self.status = status
        self.reason = reason
        self.connection = connection
    }

    func matches(_ view: RequestView) -> Bool {
        let entry = view.entry
        if let after, view.number <= after { return false }
        if let before, view.number >= before { return false }
        if let apnsID, apnsID != entry.id { return false }
        if let connection, connection != entry.connection { return false }
        if let status, status != Int(entry.status) || status == 0 { return false }
        if let reason, view.reason.isEmpty || Reason(view.reason) != reason { return false }
        if let topic, !(view.topic?.elementsEqual(topic.utf8) ?? false) { return false }
        if let devicePrefix {
            guard let token = view.deviceToken, token.count >= devicePrefix.utf8.count,
                zip(devicePrefix.utf8, token).allSatisfy({ lowercased($0) == lowercased($1) })
            else { return false }
        }
        return true
    }
}

/// The result of a query.
public struct RequestPage: Sendable {
    /// The matching requests, the oldest first.
    public var requests: [LoggedRequest]
    /// Number of the newest request of the log; 0 before the first request.
    public var newest: Int
    /// Number of requests after ``RequestQuery/after`` that the log no longer has. If `after` is nil, all requests
    /// count.
    public var dropped: Int
}

extension RequestLog {
    func requests(_ query: RequestQuery) -> RequestPage {
        let after = min(max(query.after ?? 0, 0), newest)
        var found: [LoggedRequest] = []
        let first = max(oldest, after + 1)
        let numbers = first...max(newest, first)
        func collect(_ number: Int) -> Bool {
            if let request = with(number, { query.matches($0) ? LoggedRequest($0) : nil }) ?? nil {
                found.append(request)
            }
            return found.count < query.limit
        }
        if query.after == nil {
            for number in numbers.reversed() where !collect(number) { break }
            found.reverse()
        } else {
            for number in numbers where !collect(number) { break }
        }
        return RequestPage(requests: found, newest: newest, dropped: max(0, oldest - 1 - after))
    }
}
