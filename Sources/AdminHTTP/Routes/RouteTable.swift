/// The routes of an endpoint. A request that fits no route is refused with the allowed paths, methods or query names.
public struct RouteTable {
    public let routes: [AdminRoute]

    /// Creates a table of routes.
    ///
    /// - Parameter routes: the routes in order. If several routes match, the first one serves the request.
    public init(_ routes: [AdminRoute]) {
        self.routes = routes
    }

    /// Passes the request to the matching route. Answers with an error if no route matches, or if the route throws an
    /// error.
    public func serve(_ exchange: AdminExchange) {
        do throws(AdminError) {
            let fitting = routes.filter { $0.parameters(of: exchange.request.path) != nil }
            guard !fitting.isEmpty else {
                let all = routes.filter(\.isListed).map { "\($0.method.rawValue) \($0.path)" }
                throw AdminError(404, "unknown path; known paths: \(all.joined(separator: ", "))")
            }
            guard let route = fitting.first(where: { $0.method == exchange.request.method }) else {
                return exchange.answer(Self.notAllowed(fitting))
            }
            try Self.check(exchange.request.query, against: route)
            exchange.request.parameters = route.parameters(of: exchange.request.path) ?? []
            try route.answer(exchange)
        } catch {
            exchange.answer(error.response)
        }
    }

    private static func notAllowed(_ routes: [AdminRoute]) -> AdminResponse {
        let methods = AdminMethod.allCases.filter { method in routes.contains { $0.method == method } }
        let allowed = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }.joined(separator: ", ")
        var response = AdminResponse.error(405, "method not allowed; allowed methods: \(allowed)")
        response.headers = [("Allow", allowed)]
        return response
    }

    private static func check(_ query: [(name: String, value: String)], against route: AdminRoute) throws(AdminError) {
        for (name, _) in query where !route.query.contains(name) {
            let known = route.query.isEmpty ? "none" : route.query.joined(separator: ", ")
            throw AdminError(400, "unknown query name \(name); known names: \(known)")
        }
        for name in route.query where query.count(where: { $0.name == name }) > 1 {
            throw AdminError(400, "\(name) occurs more than once in the query")
        }
    }
}
