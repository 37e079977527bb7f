/// The method, path and handler of one route of an endpoint.
public struct AdminRoute {
    public let method: AdminMethod
    /// The path, such as `/v1/devices/TOKEN`. A segment in capitals matches any text that is not empty.
    public let path: String
    /// The names that the query may contain.
    public let query: [String]
    public let help: String

    /// Whether errors for unknown paths list the route.
    public let isListed: Bool

    let segments: [Substring]
    let answer: (AdminExchange) throws(AdminError) -> Void

    /// Creates a route whose handler returns the answer.
    public init(
        _ method: AdminMethod, _ path: String, query: [String] = [], isListed: Bool = true, _ help: String,
        answer: @escaping (AdminRequest) throws(AdminError) -> AdminResponse
    ) {
        self.init(
            method, path, query: query, isListed: isListed, help,
            later: { exchange throws(AdminError) in
                exchange.answer(try answer(exchange.request))
            })
    }

    /// Creates a route whose handler may answer later.
    public init(
        _ method: AdminMethod, _ path: String, query: [String] = [], isListed: Bool = true, _ help: String,
        later answer: @escaping (AdminExchange) throws(AdminError) -> Void
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.help = help
        self.isListed = isListed
        self.answer = answer
        segments = path.split(separator: "/")
    }

    /// Returns the texts that match the segments in capitals; nil if the path does not match.
    func parameters(of path: [String]) -> [(name: String, value: String)]? {
        guard path.count == segments.count else { return nil }
        var parameters: [(String, String)] = []
        for (segment, text) in zip(segments, path) {
            if segment.allSatisfy({ $0.isUppercase }) {
                guard !text.isEmpty else { return nil }
                parameters.append((String(segment), text))
            } else if segment != text {
                return nil
            }
        }
        return parameters
    }
}
