/// One thing that can be asked of an endpoint.
public struct AdminRoute {
    public let method: AdminMethod
    /// Such as `/v1/devices/TOKEN`: a segment in capitals stands for any text.
    public let path: String
    /// The names that the query may have.
    public let query: [String]
    /// What it does, in a few words.
    public let help: String

    /// Whether those who ask for what there is are told of it; parts of a page are not.
    public let isListed: Bool

    let segments: [Substring]
    let answer: (AdminExchange) throws(AdminError) -> Void

    /// A request that is answered at once.
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

    /// A request whose answer may take its time.
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

    /// What the segments in capitals stand for; nil when the path is another.
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
