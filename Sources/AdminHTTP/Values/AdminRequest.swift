/// A request from a client that may ask.
public struct AdminRequest: Sendable {
    /// nil for a method that no resource knows.
    public let method: AdminMethod?
    /// The segments of the path, percent-decoded; none for `/`.
    public let path: [String]
    /// The query's names and values, percent-decoded, in order.
    public let query: [(name: String, value: String)]
    public let contentType: String?
    public internal(set) var body: [UInt8] = []
    /// The segments that the route's path has names for.
    var parameters: [(name: String, value: String)] = []

    init(method: AdminMethod? = nil, target: RequestTarget = RequestTarget(), contentType: String? = nil) {
        self.method = method
        path = target.path
        query = target.query
        self.contentType = contentType
    }

    /// The first value of this name in the query.
    public func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// The path's segment that stands where the route's path says `name`.
    public func parameter(_ name: String) -> String {
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            preconditionFailure("the route's path has no \(name)")
        }
        return parameter.value
    }
}
