import APNSProtocol
import Crypto
import JSON
import JSONSchema
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Requests to users, as a lane reads them.
@Suite struct AudienceReadingTests {
    private let reader = AudienceReader()
    private static let alert = KindExample.all[0]

    @Test func `A request to one user has its members`() throws {
        let audience = try #require(reader.audience(Self.alert.request(#""user":"ann\u0301 \"x\"""#)))
        #expect(audience.users == ["ann\u{301} \"x\""])
        #expect(!audience.isList && audience.kind == .device && audience.scope == nil)
        #expect(audience.id == UUIDValue(AudienceReader.id) && audience.app == 0)
        #expect(audience.environment == .production && audience.route.pool == 0)
        #expect(audience.idRange == nil && audience.scopeRange == nil)
    }

    @Test func `Users keep the order of the request`() throws {
        let audience = try #require(reader.audience(Self.alert.request(#""users":["b","a","c"]"#)))
        #expect(audience.users == ["b", "a", "c"] && audience.isList)
        #expect(try #require(reader.audience(Self.alert.request(#""users":["b"]"#))).isList)
    }

    @Test func `The id of the body has precedence`() throws {
        let id = "b8a1d3f2-6c4e-4d70-9f55-0c9a7e2b1d64"
        let audience = try #require(reader.audience(Self.alert.request(#""user":"ann""#, #""id":"\#(id)""#)))
        #expect(audience.id == UUIDValue(id))
    }

    @Test(arguments: KindExample.all) func `The push type determines kind, scope and topic`(_ example: KindExample)
        throws
    {
        let scope = example.kind.scopeRule == .inRequest ? [#""scope":"s""#] : []
        let body = scope.isEmpty ? example.request(#""user":"ann""#) : example.request(#""user":"ann""#, scope[0])
        let audience = try #require(reader.audience(body), "\(String(describing: reader.violation(body)))")
        #expect(audience.kind == example.kind)
        #expect(audience.scope == (scope.isEmpty ? example.payloadScope : "s"))
        let push = try #require(reader.push(example.request(#""device_token":"aabb""#)))
        #expect(push.route == audience.route)
    }

    @Test(arguments: KindExample.all) func `A missing or superfluous scope is refused`(_ example: KindExample) {
        let needsScope = example.kind.scopeRule == .inRequest
        let violation = reader.violation(
            needsScope ? example.request(#""user":"ann""#) : example.request(#""user":"ann""#, #""scope":"s""#))
        #expect(violation?.violationClass == .schema)
        #expect(violation?.code == (needsScope ? "required" : "properties"))
        #expect(violation?.sentence.contains("scope") == true)
    }

    // MARK: - Limits

    @Test func `Users and scopes have limits in bytes`() {
        let controls = KindExample.all[3]
        let long = String(repeating: "é", count: 129)
        let cases = [
            (Self.alert.request(#""user":"\#(long)""#), "user", "/user"),
            (Self.alert.request(#""users":["a","\#(long)"]"#), "users", "/users/1"),
            (controls.request(#""user":"a""#, #""scope":"\#(long.prefix(65))""#), "scope", "/scope"),
        ]
        for (body, code, path) in cases {
            let violation = reader.violation(body)
            #expect(violation?.violationClass == .limit && violation?.code == code && violation?.path == path)
            #expect(violation?.sentence.contains("é") == false)
            let root = try? JSONDocument(Array(body.utf8)).root
            #expect(root.flatMap { MessageLimits.violation(of: $0) } == violation)
        }
        #expect(reader.audience(Self.alert.request(#""user":"\#(long.prefix(128))""#)) != nil)
        #expect(reader.audience(controls.request(#""user":"a""#, #""scope":"\#(long.prefix(64))""#)) != nil)
    }

    @Test(arguments: ["", String(repeating: "T", count: 129)])
    func `The attributes type of a start is a scope`(_ type: String) {
        var start = KindExample.all[5]
        start.payload = start.payload.replacing("\"Game\"", with: "\"\(type)\"")
        let violation = reader.violation(start.request(#""user":"ann""#))
        #expect(violation?.violationClass == .limit && violation?.code == "attributes-type")
        #expect(violation?.path == "/payload/aps/attributes-type")
        #expect(reader.push(start.request(#""device_token":"aabb""#)) != nil)
    }

    @Test func `A thousand users are the maximum`() {
        func request(_ count: Int) -> String {
            let users = (0..<count).map { "\"\(String(repeating: "u", count: 250))\($0)\"" }.joined(separator: ",")
            return Self.alert.request("\"users\":[\(users)]")
        }
        #expect(reader.audience(request(1000))?.users.count == 1000)
        let violation = reader.violation(request(1001))
        #expect(violation?.code == "maxItems" && violation?.path == "/users")
    }

    @Test func `The other checks of requests hold`() throws {
        let user = #""user":"ann""#
        var large = Self.alert
        large.payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#
        let violation = reader.violation(large.request(user))
        #expect(violation?.violationClass == .limit && violation?.code == "payload")
        let other = Self.alert.request(user).replacing(AudienceReader.app, with: "com.example.ap")
        #expect(reader.violation(other)?.violationClass == .app)
        let sandbox = reader.violation(Self.alert.request(user, #""environment":"sandbox""#))
        #expect(sandbox?.violationClass == .app && sandbox?.code == "environment")
        let long = String(repeating: "é", count: 33)
        #expect(reader.violation(Self.alert.request(user, #""collapse_id":"\#(long)""#))?.code == "collapse_id")
        let schema = try CompiledSchema(JSONDocument(Array(#"{"required":["order"]}"#.utf8)))
        let strict = AudienceReader(payloadSchema: schema).violation(Self.alert.request(user))
        #expect(strict?.violationClass == .schema && strict?.code == "required")
    }

    // MARK: - Without registrations

    @Test(arguments: [(#""user":"ann""#, "/user"), (#""users":["ann"]"#, "/users")])
    func `Without registrations a request to users is refused`(_ member: String, _ path: String) {
        let reader = AudienceReader(hasRegistrations: false)
        let request = Self.alert.request(member)
        let violation = reader.violation(request)
        #expect(violation?.violationClass == .registration && violation?.code == "not_configured")
        #expect(violation?.path == path && violation?.sentence.contains("ann") == false)
        let event = reader.violation(#"{"specversion":"1.0","id":"1","source":"/s","type":"t","data":\#(request)}"#)
        #expect(event?.path == "/data\(path)")
        #expect(reader.push(Self.alert.request(#""device_token":"aabb""#)) != nil)
    }

    // MARK: - Results

    @Test func `A result names the user of the request`() {
        let record = AudienceReader.record(Self.alert.request(#""user":"ann""#))
        _ = reader.read(record)
        guard case .user(let user) = record.target else {
            Issue.record("the target is not the user")
            return
        }
        #expect(Array(user) == Array("ann".utf8))
        let escaped = String(repeating: "\\u00e9", count: 128)
        let long = AudienceReader.record(Self.alert.request("\"user\":\"\(escaped)\""))
        _ = reader.read(long)
        if case .user(let user) = long.target { #expect(user.count == 256) } else { Issue.record("no target") }
        let list = AudienceReader.record(Self.alert.request(#""users":["ann"]"#))
        _ = reader.read(list)
        #expect(list.target == nil)
    }

    // The body of a child does not contain the time, which may differ between two expansions of the request.
    @Test func `A child has the time of its registration`() throws {
        let record = AudienceReader.record(Self.alert.request(#""device_token":"aabb""#))
        record.fanoutOrigin = FanoutOrigin(
            requestID: UUIDValue(high: 1, low: 2), user: "ann",
            registration: UUIDValue(high: 3, low: 4), registeredAtMilliseconds: 1_750_000_000_000,
            expandedAtMilliseconds: 1_750_000_000_001,
            isOnlyDevice: false)
        guard case .success(.push(let request)) = reader.read(record) else {
            Issue.record("the child is invalid")
            return
        }
        #expect(request.registeredAtMilliseconds == 1_750_000_000_000)
    }
}
