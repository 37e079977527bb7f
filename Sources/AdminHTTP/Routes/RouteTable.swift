/// All that can be asked of an endpoint. What cannot be is refused, with what can.
public struct RouteTable {
    public let routes: [AdminRoute]

    /// - Parameter routes: where more than one fits a path, the first counts.
    public init(_ routes: [AdminRoute]) {
        self.routes = routes
    }

    /// Has the route that fits answer.
    public func serve(_ exchange: AdminExchange) {
        do throws(AdminError) {
            let fitting = routes.filter { $0.parameters(of: exchange.request.path) != nil }
            guard !fitting.isEmpty else {
                let all = routes.filter(\.isListed).map { "\($0.method.rawValue) \($0.path)" }
                throw AdminError(404, "there is nothing at this path; there are: \(all.joined(separator: ", "))")
            }
            guard let route = fitting.first(where: { $0.method == exchange.request.method }) else {
                return exchange.answer(Self.notAllowed(fitting))
            }
            try Self.check(exchange.request.query, against: route)
            exchange.request.parameters = route.parameters(of: exchange.request.path) ?? []
            try route.answer(exchange)
        } catch {
            exchange.answer(.error(error.status, error.sentence))
        }
    }

    private static func notAllowed(_ routes: [AdminRoute]) -> AdminResponse {
        let methods = AdminMethod.allCases.filter { method in routes.contains { $0.method == method } }
        let allowed = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }.joined(separator: ", ")
        var response = AdminResponse.error(405, "the methods of this path are \(allowed)")
        response.headers = [("Allow", allowed)]
        return response
    }

    private static func check(_ query: [(name: String, value: String)], against route: AdminRoute) throws(AdminError) {
        for (name, _) in query where !route.query.contains(name) {
            let known = route.query.isEmpty ? "none" : route.query.joined(separator: ", ")
            throw AdminError(400, "there is no \(name) in the query of this path; there are: \(known)")
        }
        for name in route.query where query.count(where: { $0.name == name }) > 1 {
            throw AdminError(400, "\(name) stands in the query more than once")
        }
    }
}
