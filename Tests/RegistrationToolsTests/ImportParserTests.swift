import APNSProtocol
import Registrations
import Testing

@testable import RegistrationTools

/// The parser of import lines, with valid and hostile lines.
@Suite struct ImportParserTests {
    private static let now: Int64 = 1_750_000_000_000
    private static let token = String(repeating: "0a", count: 32)
    private static let header = "user,app,environment,device_token,registered_at"

    @Test func `A CSV line gives the command of its columns`() throws {
        let contents = try contents(
            "user,app,environment,device_token,registered_at,device_id,platform,kind,shared,expires_at,scope",
            "\"Ann, \"\"A\"\"\",com.example.app,sandbox,\(Self.token),1749000000000,phone,ios,controls,true,"
                + "1760000000000,lamp")
        let expected = NewRegistration(
            address: TokenAddress(
                app: "com.example.app", environment: .sandbox, kind: .controls, scope: "lamp", token: Self.token),
            user: "Ann, \"A\"", deviceID: "phone", platform: .ios, registeredAt: 1_749_000_000_000,
            expiresAt: 1_760_000_000_000, isShared: true)
        #expect(contents == [.nothing, .command(.register(expected))])
    }

    @Test func `Times of CSV files are UNIX milliseconds or RFC 3339`() throws {
        let contents = try contents(Self.header, line(at: "2025-06-01T00:00:00Z"), line(at: "1748736000000"))
        #expect(contents[1] == contents[2])
        #expect(command(contents[1])?.registeredAt == 1_748_736_000_000)
    }

    @Test func `Seconds are refused`() throws {
        #expect(violation(try contents(Self.header, line(at: "1748736000"))[1])?.path == "/registered_at")
    }

    @Test func `A JSON line may omit the command`() throws {
        let line =
            #"{"app":"com.example.app","user":"ann","device_token":"\#(Self.token)","#
            + #""registered_at":1749000000000}"#
        let contents = try contents(line, #" {"command":"register","# + line.dropFirst())
        #expect(contents[0] == contents[1])
        #expect(command(contents[0])?.user == "ann")
    }

    @Test func `The time of the import is that of lines without a time only`() throws {
        let begin = #"{"app":"com.example.app","user":"ann","device_token":"\#(Self.token)""#
        let json = try contents(at: 1_740_000_000_000, begin + "}", begin + #","registered_at":1749000000000}"#, "{}")
        #expect(json.map { command($0)?.registeredAt } == [1_740_000_000_000, 1_749_000_000_000, nil])
        #expect(violation(json[2])?.code == "required")
        let csv = try contents(at: 1_740_000_000_000, Self.header, line(at: ""), line(at: "1749000000000"))
        #expect(csv.map { command($0)?.registeredAt } == [nil, 1_740_000_000_000, 1_749_000_000_000])
    }

    @Test func `Old registrations are valid, and those ahead of the clock are not`() throws {
        let contents = try contents(Self.header, line(at: "1500000000000"), line(at: "1750000400000"))
        #expect(command(contents[1])?.registeredAt == 1_500_000_000_000)
        #expect(violation(contents[2])?.violationClass == .limit)
    }

    @Test(arguments: ["unregister", "erase", "prune"]) func `Only register commands are imported`(word: String) throws {
        let members =
            switch word {
            case "erase": ""
            case "prune": #","app":"com.example.app","device_token":"0a","status":410,"reason":"Unregistered""#
            default: #","app":"com.example.app""#
            }
        let line = #"{"command":"\#(word)","user":"ann","registered_at":1749000000000\#(members)}"#
        #expect(violation(try contents(line)[0])?.violationClass == .schema)
    }

    @Test(arguments: [
        ("\"ann,com.example.app,sandbox,0a,1749000000000", "no closing quote"),
        ("a\"nn,com.example.app,sandbox,0a,1749000000000", "is not at the beginning"),
        ("\"ann\"x,com.example.app,sandbox,0a,1749000000000", "is not at the beginning"),
        ("ann,com.example.app,sandbox,0a", "4 fields"),
        ("ann,com.example.app,sandbox,0a,1749000000000,", "6 fields"),
        ("ann,com.example.app,sandbox,0a,1749000000000x", "registered_at is not"),
        ("ann,com.example.app,sandbox,0a,-1", "registered_at is not"),
        ("ann,com.example.app,sandbox,0x,1749000000000", "device_token is not"),
        ("ann,com.example.app,test,0a,1749000000000", "environment is not"),
        ("a\u{0}nn,com.example.app,sandbox,0a,1749000000000", "user is not"),
        (",com.example.app,sandbox,0a,1749000000000", "has no user"),
        ("ann,com.example.other,sandbox,0a,1749000000000", "not configured"),
    ])
    func `A faulty line of CSV is refused with its reason, and the next line is read`(
        line: String, reason: String
    ) throws {
        let contents = try contents(Self.header, line, self.line(at: "1749000000000"))
        #expect(violation(contents[1])?.sentence.contains(reason) == true, "\(contents[1])")
        #expect(command(contents[2]) != nil)
    }

    @Test func `Invalid UTF-8 is refused in both formats`() throws {
        var parser = ImportParser(registeredAt: nil, indexKey: "", environment: Self.environment)
        #expect(try parser.content(of: Array(Self.header.utf8), now: Self.now) == .nothing)
        let line = [0xFF] + Array(",com.example.app,sandbox,0a,1749000000000".utf8)
        #expect(violation(try parser.content(of: line, now: Self.now))?.sentence.contains("UTF-8") == true)
        var other = ImportParser(registeredAt: nil, indexKey: "", environment: Self.environment)
        #expect(violation(try other.content(of: Array("{\"user\":\"".utf8) + [0xFF], now: Self.now)) != nil)
    }

    @Test func `A violation quotes nothing of its line`() throws {
        let contents = try contents(Self.header, "secret-user\u{1},secret.app,secret,zz-secret,secret")
        #expect(violation(contents[1]).map { "\($0)".contains("secret") } == false)
        #expect(throws: ImportError.self) { try self.contents("secret-user,secret-token") }
        do {
            _ = try self.contents("secret-user,secret-token")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }

    @Test func `A byte order mark and empty lines are skipped`() throws {
        let contents = try contents("", "\u{FEFF}\(Self.header)", " ", line(at: "1749000000000"))
        #expect(contents.map { command($0) != nil } == [false, false, false, true])
    }

    @Test(arguments: [
        ("user,app", "column device_token is missing"),
        ("user,app,device_token", "column registered_at is missing"),
        ("user,app,device_token,user,registered_at", "two columns are user"),
        ("user,app,device_tokens,registered_at", "cannot read the header: column 3 is none of"),
        ("user,app,\"device_token,registered_at", "no closing quote"),
    ])
    func `A faulty header ends the import`(header: String, reason: String) {
        do {
            let contents = try contents(header)
            Issue.record("\(contents)")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    @Test(
        arguments: [
            ("2025-06-01T00:00:00Z", 1_748_736_000_000), ("2025-06-01 02:00:00.5+02:00", 1_748_736_000_500),
            ("1970-01-01T00:00:00Z", 0), ("2024-02-29T23:59:59.9999Z", 1_709_251_199_999),
            ("1748736000000", 1_748_736_000_000), ("2025-02-29T00:00:00Z", nil), ("2025-06-01T00:00:00", nil),
            ("2025-06-01T24:00:00Z", nil), ("2025-06-01", nil), ("1748736000", nil), ("", nil),
            ("2025-06-01T00:00:00.Z", nil), ("2025-06-01T00:00:00+0200", nil),
        ] as [(String, Int64?)])
    func `Times are read as operators write them`(text: String, milliseconds: Int64?) {
        #expect(RegistrationTime.milliseconds(text) == milliseconds)
    }

    private func line(at time: String) -> String { "ann,com.example.app,sandbox,\(Self.token),\(time)" }

    private static func environment(
        app: String, named: APNSEnvironment?
    ) throws(CommandViolation) -> APNSEnvironment {
        guard app == "com.example.app" else {
            throw CommandViolation(.app, "app", path: "/app", "The app is not configured.")
        }
        return named ?? .production
    }

    private func contents(at time: Int64? = nil, _ lines: String...) throws(ImportError) -> [ImportParser.Content] {
        var parser = ImportParser(registeredAt: time, indexKey: "", environment: Self.environment)
        var contents: [ImportParser.Content] = []
        for line in lines { contents.append(try parser.content(of: Array(line.utf8), now: Self.now)) }
        return contents
    }

    private func command(_ content: ImportParser.Content) -> NewRegistration? {
        guard case .command(.register(let registration)) = content else { return nil }
        return registration
    }

    private func violation(_ content: ImportParser.Content) -> CommandViolation? {
        guard case .violation(let violation) = content else { return nil }
        return violation
    }
}
