/// A request that passed the host and origin checks.
public struct AdminRequest: Sendable {
    /// The method, with `GET` for `HEAD`; nil for a method that no route can have.
    public let method: AdminMethod?
    /// The segments of the path, percent-decoded; empty for `/`.
    public let path: [String]
    /// The names and values of the query, percent-decoded, in order.
    public let query: [(name: String, value: String)]
    public let contentType: String?
    /// The headers in order, with lower-case names.
    public let headers: [(name: String, value: String)]
    /// The user ID of the client's process; nil for a client over TCP.
    public let peerUserID: UInt32?
    public internal(set) var body: [UInt8] = []
    /// The segments that match the route's names in capitals.
    var parameters: [(name: String, value: String)] = []

    init() {
        (method, path, query, contentType, headers, peerUserID) = (nil, [], [], nil, [], nil)
    }

    init(_ head: RequestHead, _ target: RequestTarget, peerUserID: UInt32?) {
        method = head.method
        path = target.path
        query = target.query
        contentType = head.contentType
        headers = head.headers
        self.peerUserID = peerUserID
    }

    /// Returns the values of all headers with this lower-case name.
    public func headers(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// Returns the first value of this name in the query; nil if the query does not contain the name.
    public func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// Returns the path segment that matches `name` in the route's path. Traps if the route's path does not contain
    /// the name.
    public func parameter(_ name: String) -> String {
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            preconditionFailure("the route's path has no \(name)")
        }
        return parameter.value
    }
}
