import Crypto
import Glibc
import JSON
import TestKit
import Testing

@testable import MartletCLI

/// The commands `martlet validate` and `martlet config check`, run as processes.
@Suite(.timeLimit(.minutes(10))) struct ValidateTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("validate") }

    @Test func documentsAreMessagesByDefault() async throws {
        let valid = Products.file("schemas/examples/valid/alert.json")
        let invalid = Products.file("schemas/examples/invalid/badge-text.json")
        let fine = try await martlet("validate", "--json", valid)
        #expect(fine == Run(status: .exited(0), output: [#"{"valid":true}"#], errors: []))
        let run = try await martlet("validate", "--json", valid, invalid)
        #expect(run.status == .exited(1) && run.errors == [] && run.output.count == 2)
        let error = try #require(try JSONDocument(run.output[1]).root["errors"]?.elements.map { $0 }.first)
        #expect(error["keyword"]?.string == "type")
        #expect(error["instance_pointer"]?.string == "/payload/aps/badge")
        let location = "https://martlet.dev/schemas/notification.schema.json#/$defs/aps/properties/badge/type"
        #expect(error["schema_location"]?.string == location)
        #expect(error["message"]?.string?.hasPrefix("must be a whole number (") == true)
        #expect((error["line"]?.int ?? 0) > 1)
    }

    /// If the output is a pipe, no excerpt of a document is printed.
    @Test func eachErrorIsALineOfText() async throws {
        let valid = Products.file("schemas/examples/valid/alert.json")
        let wrong = try folder.write(
            "wrong.json", "{\n\"app\":\"a\",\"push_type\":\"Alert\",\"device_token\":\"ab\",\"payload\":{}}")
        let run = try await martlet(["validate", valid, wrong])
        #expect(run.status == .exited(1) && run.errors == [])
        #expect(run.output.count == 2 && run.output.first == "\(valid): valid")
        #expect(run.output.last?.hasPrefix("\(wrong):2:23: /push_type must be one of \"alert\", ") == true)
        #expect(run.output.last?.hasSuffix(" (did you mean \"alert\"?).") == true)

        let lines = try folder.write("lines", "1\n\n{\n[1]\n")
        let schema = try folder.write("s.json", #"{"type":"integer"}"#)
        let each = try await martlet(["validate", "--schema", schema, "--lines", lines])
        #expect(
            each.output == [
                "\(lines):3:2: the text ends in the middle of a JSON value",
                "\(lines):4:1: The value must be a whole number.", "\(lines): 1 of 3 documents are valid",
            ])
    }

    @Test func theDataOfAnEventIsValidated() async throws {
        let request = #"{"app":"a","device_token":"ab","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
        func validate(_ member: String, version: String = "1.0") async throws -> [String] {
            let event = try folder.write(
                "event.json", #"{"specversion":"\#(version)","type":"push","source":"/","id":"1"\#(member)}"#)
            return try await martlet(["validate", event]).output
        }
        #expect(try await validate(#","data":\#(request)"#).last?.hasSuffix("event.json: valid") == true)
        let old = try await validate(#","data":\#(request)"#, version: "0.3")
        #expect(
            old.first?.hasSuffix(", because only CloudEvents 1.0 is supported, and the event has version 0.3.") == true)
        let wrong = try await validate(#","data":\#(request.replacing("alert\"", with: "alarm\""))"#)
        #expect(wrong.first?.contains("/data/push_type must be one of") == true, "\(wrong)")
        #expect(
            try await validate("").first?.hasSuffix(", because the event has no data, which must be the request.")
                == true)
    }

    /// On a terminal, which `script` provides, the line is printed with a caret.
    @Test func aTerminalShowsThePosition() async throws {
        let wrong = try folder.write("wrong.json", "{\n  \"app\": x}")
        let run = try await ChildProcess.run([
            "script", "-qec", "stty cols 80; exec \(try Products.executable("martlet")) validate \(wrong)", "/dev/null",
        ])
        let shown = run.output.map { $0.filter { $0 != "\r" } }
        #expect(shown == ["\(wrong):2:10: unexpected character", "  \"app\": x}", "         ^"])
    }

    /// The worker limits the bytes of a collapse ID and of a payload. The schema limits only the characters of a
    /// collapse ID.
    @Test func limitsBeyondTheSchemaAreChecked() async throws {
        func message(_ more: String, alert: String = "a", pushType: String = "alert") -> String {
            #"{"app":"a","device_token":"ab","push_type":"\#(pushType)"\#(more),"payload":{"aps":{"alert":"\#(alert)"}}}"#
        }
        let long = String(repeating: "a", count: 5000)
        let lines = try folder.write(
            "lines",
            [
                message(#","collapse_id":"\#(String(repeating: "é", count: 40))""#), message("", alert: long),
                message("", alert: long, pushType: "voip"), message(#","collapse_id":"a""#),
            ].joined(separator: "\n"))
        let run = try await martlet("validate", "--json", "--lines", lines)
        #expect(run.status == .exited(1))
        let results = try run.output.map { try JSONDocument($0).root }
        #expect(results.map { $0["valid"]?.bool } == [false, false, true, true])
        let errors = results.prefix(2).compactMap { $0["errors"]?.elements.map { $0 }.first }
        #expect(errors.map { $0["class"]?.string } == ["limit", "limit"])
        #expect(errors.map { $0["code"]?.string } == ["collapse_id", "payload"])
        #expect(errors.map { $0["instance_pointer"]?.string } == ["/collapse_id", "/payload"])
        #expect(errors.map { $0["line"]?.int } == [1, 2])
        #expect(errors[1]["message"]?.string == "The payload has 5020 bytes; APNs allows 4096.")
        #expect(errors[0]["message"]?.string == "collapse_id has 80 bytes of UTF-8; APNs allows 64.")
    }

    @Test func `A payload that is too large for its escapes alone is named with both sizes`() async throws {
        let payload = #"{"aps":{"alert":"\#(String(repeating: #"\ud83d\ude00"#, count: 400))"}}"#
        let file = try folder.write(
            "message", #"{"app":"a","device_token":"ab","push_type":"alert","payload":\#(payload)}"#)
        let run = try await martlet("validate", file)
        #expect(run.status == .exited(1))
        #expect(
            run.output.first?.hasSuffix(
                ": The payload has 4820 bytes; APNs allows 4096. Written as UTF-8, without \\u escapes or "
                    + "whitespace between its parts, the payload has 1620 bytes.") == true, "\(run.output)")
    }

    @Test func `aps beside payload is named within an event, too`() async throws {
        let file = try folder.write(
            "event",
            #"{"specversion":"1.0","data":{"app":"a","push_type":"alert","device_token":"ab","aps":{}}}"#)
        let run = try await martlet("validate", file)
        #expect(run.output.first?.hasSuffix("/data/aps is not a known property; aps belongs in payload.") == true)
    }

    /// With a worker's configuration, requests that break the worker's rules are invalid. The key files need not exist.
    @Test func aConfigurationAddsTheWorkersRules() async throws {
        try folder.write("schema.json", #"{"required":["n"],"properties":{"n":{"maximum":9},"m":{"type":"integer"}}}"#)
        let config = try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "amqp://127.0.0.1"}
            apns:
              keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: absent.p8, environments: [production]}]
            apps: {com.example.app: {}, com.example.free: {}}
            payload_schemas: {com.example.app: schema.json}
            limits: {message_bytes_max: 1024}
            """)
        func request(_ payload: String, app: String = "com.example.app", _ more: String = "") -> String {
            #"{"app":"\#(app)","device_token":"ab","push_type":"alert"\#(more),"payload":{"aps":{"alert":"x"}\#(payload)}}"#
        }
        let data = request(#","n":10"#)
        let lines = try folder.write(
            "lines",
            [
                request(#","n":1"#), request(#","n":10,"m":"x""#), request(""), request("", app: "com.example.free"),
                request("", app: "com.example.fre"), request("", app: "com.example.free", #","environment":"sandbox""#),
                request("", app: "com.example.free", #","collapse_id":"\#(String(repeating: "x", count: 1000))""#),
                #"{"specversion":"1.0","type":"push","source":"/","id":"1","data":\#(data)}"#,
            ].joined(separator: "\n"))
        let run = try await martlet("validate", "--config", config, "--json", "--all-errors", "--lines", lines)
        #expect(run.status == .exited(1) && run.errors == [], "\(run.errors)")
        let errors = try run.output.map { line in
            (try JSONDocument(line).root["errors"]?.elements.map { $0 } ?? []).map { error in
                let code = error["keyword"]?.string ?? error["code"]?.string ?? "-"
                return "\(error["class"]?.string ?? "-").\(code) \(error["instance_pointer"]?.string ?? "")"
            }
        }
        #expect(
            errors == [
                [], ["schema.maximum /payload/n", "schema.type /payload/m"], ["schema.required /payload"], [],
                ["app.unknown /app"], ["app.environment /environment"], ["size.message_bytes "],
                ["schema.maximum /data/payload/n"],
            ])
        let plain = try await martlet("validate", "--json", "--lines", lines)
        #expect(plain.output.count { $0 == #"{"valid":true}"# } == 7)

        let broken = try await martlet("validate", "--config", folder.file("nowhere.yaml"), lines)
        #expect(broken.status == .exited(2) && broken.output == [])
        let both = try await martlet("validate", "--config", config, "--schema", folder.file("schema.json"), lines)
        #expect(both.errors.first?.hasPrefix("martlet: options --config and --schema are mutually exclusive") == true)
    }

    // APNs and devices ignore unknown keys without an error.
    @Test func unknownApsKeysCauseWarnings() async throws {
        let slips = try folder.write("slips.json", Self.message(#"{"alert":"x","Sound":"y","mine":1}"#))
        let found = "\(slips):1:98: warning: /payload/aps/Sound is not a key that Apple defines; devices ignore the key"
        let other =
            "\(slips):1:110: warning: /payload/aps/mine is not a key that Apple defines; devices ignore the key."
        let expected = [found + " (did you mean \"sound\"?).", other, "\(slips): valid"]
        #expect(try await martlet("validate", slips) == Run(status: .exited(0), output: expected, errors: []))

        // The warning explains the error.
        let wrong = try folder.write("wrong.json", "\n" + Self.message(#"{"alerts":"x"}"#))
        let json = try await martlet("validate", "--json", wrong)
        #expect(json.status == .exited(1))
        let result = try JSONDocument(json.output.joined()).root
        #expect(result["errors"]?.count == 1 && result["warnings"]?.count == 1)
        let warning = try #require(result["warnings"]?.elements.map { $0 }.first)
        #expect(warning["instance_pointer"]?.string == "/payload/aps/alerts")
        #expect(warning["suggestion"]?.string == "alert")
        #expect(warning["message"]?.string?.hasSuffix("(did you mean \"alert\"?)") == true)
        #expect(warning["line"]?.int == 2 && warning["column"]?.int == 86 && warning["offset"]?.int == 86)

        let good = Products.file("schemas/examples/valid/alert.json")
        #expect(try await martlet("validate", "--json", good).output == [#"{"valid":true}"#])
        let own = try folder.write("s.json", "{}")
        #expect(try await martlet("validate", "--json", "--schema", own, slips).output == [#"{"valid":true}"#])
    }

    @Test func warningsAboutApsKeysAreLimited() async throws {
        let keys = (0..<100).map { "\"x\($0)\":1" }.joined(separator: ",")
        let request = Self.message("{\"alert\":\"x\",\(keys)}")
        let event = try folder.write(
            "event.json", #"{"specversion":"1.0","type":"push","source":"/","id":"1","data":\#(request)}"#)
        let run = try await martlet("validate", "--json", event)
        let warnings = try #require(try JSONDocument(run.output.joined()).root["warnings"]).elements
        #expect(run.status == .exited(0))
        #expect(warnings.map { $0["instance_pointer"]?.string } == (0..<5).map { "/data/payload/aps/x\($0)" })
        #expect(warnings.allSatisfy { $0["suggestion"] == nil })
    }

    /// `martlet publish` prints the warning regardless of the outcome.
    @Test func publishPrintsTheSameWarnings() async throws {
        let token = String(repeating: "0a1b", count: 16)
        let slips = try folder.write("slips.json", Self.message(#"{"alert":"x","sounds":"y","\#(token)":1}"#))
        let run = try await martlet("publish", "--url", "amqp://127.0.0.1:1", "--timeout", "1", slips)
        #expect(run.status == .exited(3))
        let means =
            "/payload/aps/sounds is not a key that Apple defines; devices ignore the key (did you mean \"sound\"?)."
        #expect(run.errors.first == "martlet: \(slips): warning: \(means)")
        #expect(run.errors.dropFirst().first?.contains("/payload/aps/0a1b0a1b…+56 is not a key") == true)
        #expect(!run.errors.joined().contains(token))
    }

    /// Returns a request with the `aps` dictionary.
    ///
    /// - Parameter aps: the dictionary in JSON, which begins at column 85.
    private static func message(_ aps: String) -> String {
        #"{"app":"com.example.app","device_token":"aabb","push_type":"alert","payload":{"aps":\#(aps)}}"#
    }

    @Test func resultsNameTheirFiles() async throws {
        let first = try folder.write("first", "1")
        let second = try folder.write("second", "[")
        let run = try await martlet("validate", "--json", first, folder.file("nowhere"), second)
        #expect(run.status == .exited(2) && run.errors.count == 1)
        #expect(try run.output.map { try JSONDocument($0).root["file"]?.string } == [first, second])
    }

    @Test func omittedErrorsAreIndicated() async throws {
        let schema = try folder.write("s.json", #"{"items":{"type":"null"}}"#)
        for (count, more) in [(1000, nil), (1001, true)] as [(Int, Bool?)] {
            let document = try folder.write(
                "document", "[" + Array(repeating: "1", count: count).joined(separator: ",\n") + "]")
            let run = try await martlet("validate", "--json", "--schema", schema, "--all-errors", document)
            let result = try JSONDocument(run.output.joined()).root
            #expect(result["errors"]?.count == 1000)
            #expect(result["errors"]?.elements.map { $0["line"]?.int } == (1...1000).map { $0 })
            #expect(result["more"]?.bool == more)
        }
    }

    @Test func failedOutputIsAnError() async throws {
        let document = Products.file("schemas/examples/valid/alert.json")
        let result = try await ChildProcess.run([
            "/bin/sh", "-c", #""$0" validate "$1" > /dev/full"#, Products.executable("martlet"), document,
        ])
        #expect(result.exit.status == .exited(2))
        #expect(result.errors == ["martlet: cannot write to standard output: No space left on device"])
    }

    @Test func onlyWhitespaceIsABlankLine() async throws {
        let lines = try folder.write("lines", "\0\0\u{1}\n\u{C}\n \t\r\n1\n")
        let schema = try folder.write("s.json", "{}")
        let run = try await martlet("validate", "--json", "--schema", schema, "--lines", lines)
        #expect(run.status == .exited(1))
        #expect(try run.output.map { try JSONDocument($0).root["valid"]?.bool } == [false, false, true])
    }

    @Test func warningsAboutASchemaArePrinted() async throws {
        let schema = try folder.write("s.json", #"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"tpye":1}"#)
        let run = try await martlet(
            "validate", "--json", "--schema", schema, Products.file("schemas/examples/valid/alert.json"))
        #expect(run.status == .exited(0) && run.output == [#"{"valid":true}"#])
        #expect(run.errors.count == 5)
        #expect(run.errors.first == "martlet: \(schema): unknown keyword at /a")
    }

    @Test func eachLineIsADocument() async throws {
        let schema = try folder.write("s.json", #"{"required":["a","b"],"properties":{"a":{"type":"string"}}}"#)
        let lines = try folder.write("lines", "{\"a\":\"\",\"b\":1}\n\n{\"a\":1}\n{\n[] x")
        let run = try await martlet("validate", "--json", "--schema", schema, "--lines", "--all-errors", lines)
        #expect(run.status == .exited(1))
        let results = try run.output.map { try JSONDocument($0).root }
        #expect(results.map { $0["valid"]?.bool } == [true, false, false, false])
        #expect(results[1]["errors"]?.elements.map { $0["line"]?.int } == [3, 3])
        #expect(results[1]["errors"]?.elements.map { $0["keyword"]?.string } == ["type", "required"])
        #expect(results[2]["errors"]?.elements.map { $0["code"]?.string } == ["truncated"])
        #expect(results[3]["errors"]?.elements.map { $0["column"]?.int } == [4])
    }

    @Test func referencesAreResolved() async throws {
        let schema = try folder.write(
            "a.json",
            #"{"$id":"https://example.com/s/a.json","properties":{"#
                + #""b":{"$ref":"b.json"},"c":{"$ref":"https://example.org/c"},"d":{"$ref":"http://localhost:1234/d#/e"}}}"#
        )
        try folder.write("b.json", #"{"type":"string"}"#)
        try folder.write("any-name.json", #"{"$id":"https://example.org/c","format":"ipv4"}"#)
        let document = try folder.write("document", #"{"b":1,"c":"x","d":1}"#)
        let missing = try await martlet("validate", "--json", "--schema", schema, document)
        #expect(missing.status == .exited(2) && missing.output == [])
        #expect(missing.errors.joined().contains("which was not given: pass the file or folder as --resource"))

        // A named resource may be a pipe, which can be read only once.
        let piped = try await ChildProcess.run([
            "bash", "-c",
            #"exec "$0" validate --json --schema "$1" --resource http://localhost:1234/d=<(echo '{"e":{}}') "$2""#,
            try Products.executable("martlet"), schema, document,
        ])
        #expect(piped.output.count == 1 && piped.errors == [], "\(piped)")

        let other = try folder.write("other", #"{"e":false}"#)
        for resource in ["http://localhost:1234/d=\(other)", "http://localhost:1234/=\(folder.file("remotes"))"] {
            mkdir(folder.file("remotes"), 0o755)
            try folder.write("remotes/d", #"{"e":false}"#)
            let run = try await martlet(
                "validate", "--json", "--schema", schema, "--resource", resource, "--all-errors", "--assert-format",
                document)
            let errors = try #require(try JSONDocument(run.output.joined()).root["errors"]).elements
            #expect(errors.map { $0["instance_pointer"]?.string } == ["/b", "/c", "/d"])
        }
    }

    /// References are resolved against the `$id`. The named folder comes first, then the schema's own folder, which
    /// the `$id` also covers.
    @Test func namedFoldersAreFoundFromASchemaWithAnID() async throws {
        let schema = try folder.write(
            "schema.json",
            #"{"$id":"http://localhost:1234/d/schema.json","items":[{"$ref":"a.json"},{"$ref":"b.json"}]}"#)
        mkdir(folder.file("remotes"), 0o755)
        mkdir(folder.file("remotes/d"), 0o755)
        try folder.write("remotes/d/a.json", #"{"type":"string"}"#)
        try folder.write("a.json", "true")
        try folder.write("b.json", #"{"type":"null"}"#)
        let document = try folder.write("document", "[1,1]")
        for prefix in ["http://localhost:1234/", "http://localhost:1234"] {
            let run = try await martlet(
                "validate", "--json", "--schema", schema, "--draft", "draft-07", "--all-errors",
                "--resource", "\(prefix)=\(folder.file("remotes"))", document)
            let errors = try #require(try JSONDocument(run.output.joined()).root["errors"]).elements
            #expect(errors.map { $0["instance_pointer"]?.string } == ["/0", "/1"])
        }
    }

    @Test func brokenOrMissingFilesAreUsageErrors() async throws {
        let broken = try folder.write("broken.json", "{\n\"type\": 1}")
        let notJSON = try folder.write("not.json", "{\n\"type\"}")
        for (arguments, text) in [
            (["--schema", broken, "/dev/null"], #"broken.json:2:9: schema at "/type": "#),
            (["/nowhere"], "cannot read /nowhere"),
            (["--schema", notJSON, "/dev/null"], "not.json:2:7: unexpected character"),
            (["--schema", "/nowhere", "/dev/null"], "/nowhere: cannot read the file"), ([], "FILE… is missing"),
            (["--resource", "x=y", "/dev/null"], "option --resource requires --schema"),
            (["--schema", broken, "--draft", "4", "x"], "expected 2020-12 or draft-07, got '4'"),
            (["--schema", broken, "--resource", "=y", "x"], "expected URI=FILE or URI=FOLDER, got '=y'"),
        ] {
            let run = try await martlet(["validate"] + arguments)
            #expect(run.status == .exited(2) && run.output == [], "\(arguments)")
            #expect(run.errors.count == 1 && run.errors.joined().contains(text), "\(run.errors)")
        }
    }

    @Test func theDraftIsFromTheSchemaOrTheOption() async throws {
        let schema = try folder.write("s.json", #"{"items":[{"type":"string"}]}"#)
        let document = try folder.write("document", "[1]")
        let newer = try await martlet("validate", "--json", "--schema", schema, document)
        #expect(newer.status == .exited(2))
        let older = try await martlet("validate", "--json", "--draft", "draft-07", "--schema", schema, document)
        #expect(older.status == .exited(1))
    }

    @Test func configurationsAreChecked() async throws {
        let wrong = try folder.write("wrong.yaml", "amqp:\n  url: http://x\napp: {}\n")
        let run = try await martlet("config", "check", wrong)
        #expect(run.status == .exited(1) && run.output == [])
        #expect(run.errors.contains { $0.hasPrefix("martlet: \(wrong):3:1: unknown key 'app'; did you mean 'apps'?") })
        #expect(run.errors.contains { $0.hasPrefix("martlet: \(wrong):2:8: ") })

        let schema = try folder.write("payload.json", #"{"propertes":{}}"#)
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let right = try folder.write(
            "right.yaml", SampleConfiguration.shortest + "\npayload_schemas:\n  com.example.shop: payload.json\n")
        let fine = try await martlet("config", "check", right)
        let expected = ["martlet: \(schema): unknown keyword at /propertes"]
        #expect(fine == Run(status: .exited(0), output: ["\(right): valid"], errors: expected))
    }

    // Pushes to the environment that is not overridden would reach Apple.
    @Test(arguments: [
        ("production", "sandbox", "api.sandbox.push.apple.com"), ("sandbox", "production", "api.push.apple.com"),
    ])
    func aSingleOverriddenEndpointCausesAWarning(_ one: String, _ other: String, _ host: String) async throws {
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        func check(_ apns: String) async throws -> [String] {
            let text = SampleConfiguration.shortest.replacing("apns:\n", with: "apns:\n  \(apns)\n")
            let run = try await martlet("config", "check", try folder.write("one.yaml", text))
            #expect(run.status == .exited(0), "\(run.errors)")
            return run.errors
        }
        let server = "{host: 127.0.0.1, port: 2197}"
        #expect(
            try await check("endpoints: {\(one): \(server)}") == [
                "martlet: \(folder.file("one.yaml")): apns.endpoints overrides \(one) only: pushes to \(other) go to "
                    + "\(host):443; also set apns.endpoints.\(other), or under apns.keys, set environments: [\(one)]"
            ])
        #expect(try await check("endpoints: {production: \(server), sandbox: \(server)}") == [])
    }

    @Test(arguments: [
        ("com.example.shop.voip", "com.example.shop"), ("com.example.shop.complication", "com.example.shop"),
        ("com.example.shop.pushkit.fileprovider", "com.example.shop"),
        ("com.example.shop.location-query", "com.example.shop"),
        ("com.example.shop.push-type.liveactivity", "com.example.shop"),
        ("com.example.shop.voip-ptt", "com.example.shop"),
        ("pass.com.example.voip", nil), ("com.example.voipshop", nil),
    ])
    func anAppNamedByATopicCausesAWarning(_ name: String, _ bundleID: String?) async throws {
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let text = SampleConfiguration.shortest.replacing("com.example.shop", with: name)
        let run = try await martlet("config", "check", try folder.write("one.yaml", text))
        #expect(run.status == .exited(0))
        let expected = bundleID.map { id in
            "martlet: \(folder.file("one.yaml")): apps: \(name) ends like a topic; did you mean \(id)? "
                + "A push type adds \(name.dropFirst(id.count)) to the bundle ID"
        }
        #expect(run.errors == [expected].compactMap(\.self))
    }

    @Test(arguments: [
        ("{\"a\": 1,\n  \"b\": x}", 16, 40, "  \"b\": x}\n       ^"), ("", 0, 40, "\n^"), ("ab", 2, 40, "ab\n  ^"),
        ("0123456789ABCDEFGHIJ", 15, 12, "…89ABCDEFGH…\n        ^"), ("\t\u{1B}é!", 4, 40, " \u{FFFD}é!\n   ^"),
        ("日本語😀é x", 16, 40, "日本語😀é x\n          ^"), ("日本語日本語日本語x", 27, 9, "…本語x\n     ^"),
        ("x日本語日本語", 1, 8, "x日本語…\n ^"), ("가e\u{301}!", 6, 9, "가e\u{301}!\n   ^"),
    ])
    func aCaretShowsThePlace(_ text: String, _ offset: Int, _ width: Int, _ expected: String) {
        let position = JSONPosition(offset: offset, line: 1, column: 1)
        #expect(SourceExcerpt.text(Array(text.utf8), position, width: width) == expected)
    }

    @Test func aCaretFollowsAShortenedToken() {
        let text = #"{"device_token":"\#(String(repeating: "0a1b", count: 16))","push_type":"alertt"}"#
        let position = JSONPosition(offset: text.utf8.count - 9, line: 1, column: 1)
        let lines = SourceExcerpt.text(Array(text.utf8), position, width: 100, reveals: false).split(separator: "\n")
        let shown = #"{"device_token":"0a1b0a1b…+56","push_type":"alertt"}"#
        #expect(lines == [Substring(shown), String(repeating: " ", count: shown.count - 9) + "^"])
    }

    @Test func onlyTheKeyOfAConfigurationIsShown() {
        let text = Array("amqp:\n  password: [hunter2]\n".utf8)
        let position = JSONPosition(offset: 18, line: 2, column: 13)
        #expect(SourceExcerpt.key(text, position, width: 80) == "  password: …\n            ^")
    }

    private struct Run: Equatable {
        var status: ChildExit.Status
        var output: [String]
        var errors: [String]
    }

    private func martlet(_ arguments: String...) async throws -> Run { try await martlet(arguments) }

    private func martlet(_ arguments: [String]) async throws -> Run {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        return Run(status: result.exit.status, output: result.output, errors: result.errors)
    }
}
