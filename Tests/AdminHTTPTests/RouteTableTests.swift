import AdminHTTP
import TestKit
import Testing

@Suite struct RouteTableTests {
    /// Serves the routes of a sample shop of boxes.
    private static func serve(_ exchange: AdminExchange) {
        RouteTable([
            AdminRoute(.get, "/", "the page") { _ in .json(Array("page".utf8)) },
            AdminRoute(.get, "/v1/boxes", query: ["after", "limit"], "all boxes") { request in
                .json(Array("all after \(request.query("after") ?? "none")".utf8))
            },
            AdminRoute(.get, "/v1/boxes/newest", "the newest box") { _ in .json(Array("newest".utf8)) },
            AdminRoute(.get, "/v1/boxes/ID", "one box") { request in .json(Array(request.parameter("ID").utf8)) },
            AdminRoute(.put, "/v1/boxes/ID/lids/NAME", "makes a lid") { request throws(AdminError) in
                guard request.parameter("NAME") != "round" else { throw AdminError(400, "a \"lid\" is square") }
                return .json(Array("\(request.parameter("ID")) \(request.parameter("NAME"))".utf8), status: 201)
            },
        ]).serve(exchange)
    }

    private func expect(
        _ method: String, _ target: String, _ status: Int, _ body: String, allow: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await AdminServerHarness.run {
            Self.serve($0)
        } talk: { harness in
            let response = try await harness.connect().request(method, target)
            #expect(response.status == status, sourceLocation: sourceLocation)
            #expect(response.body == body, sourceLocation: sourceLocation)
            #expect(response.headers["allow"] == allow, sourceLocation: sourceLocation)
        }
    }

    @Test func `A path finds its route`() async throws {
        try await expect("GET", "/", 200, "page")
        try await expect("GET", "/v1/boxes", 200, "all after none")
        try await expect("GET", "/v1/boxes?limit=3&after=7", 200, "all after 7")
        try await expect("GET", "/v1/boxes/newest", 200, "newest")
        try await expect("GET", "/v1/boxes/LID%2F1", 200, "LID/1")
        try await expect("PUT", "/v1/boxes/7/lids/blue", 201, "7 blue")
    }

    @Test func `A route's error is returned`() async throws {
        try await expect("PUT", "/v1/boxes/7/lids/round", 400, #"{"error":"a \"lid\" is square"}"# + "\n")
    }

    @Test(arguments: ["/v2", "/v1/boxes/", "/v1/boxes/7/lids", "//", "/v1//boxes", "/V1/boxes"])
    func `An unknown path returns the known paths`(path: String) async throws {
        try await expect(
            "GET", path, 404,
            #"{"error":"unknown path; known paths: GET /, GET /v1/boxes, GET /v1/boxes/newest, "#
                + #"GET /v1/boxes/ID, PUT /v1/boxes/ID/lids/NAME"}"# + "\n")
    }

    @Test(arguments: ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get"])
    func `A method that is not allowed returns the allowed methods`(method: String) async throws {
        try await expect(
            method, "/v1/boxes", 405, #"{"error":"method not allowed; allowed methods: GET, HEAD"}"# + "\n",
            allow: "GET, HEAD")
    }

    @Test func `An unknown query name returns the known names`() async throws {
        try await expect(
            "GET", "/v1/boxes?befor=1", 400,
            #"{"error":"unknown query name befor; known names: after, limit"}"# + "\n")
        try await expect(
            "GET", "/?x", 400, #"{"error":"unknown query name x; known names: none"}"# + "\n")
        try await expect(
            "GET", "/v1/boxes?after=1&after=2", 400, #"{"error":"after occurs more than once in the query"}"# + "\n")
    }
}
