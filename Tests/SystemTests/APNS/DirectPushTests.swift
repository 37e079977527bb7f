import JSON
import TestKit
import Testing

extension SystemTests {
    /// `martlet push`, which sends requests directly to APNs to test a key, an app, or a request.
    @Suite struct DirectPushes {
        @Test func eachResponseIsPrintedAsASentenceAndAsAResult() async throws {
            let certified = try FixtureCertificate("com.example.certified")
            let fixture = try await SystemFixture("push", SystemFixture.Options(certificates: [certified]))
            let good = Sample(0)
            var bad = Sample(1)
            bad.app = certified.app
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(bad.device)", #"{"app":"\#(certified.app)","state":"bad"}"#)
            var files: [String] = []
            for (name, body) in [("good", good.body), ("bad", bad.body), ("broken", Array("{}".utf8))] {
                files.append(try fixture.directory.write("\(name).json", String(decoding: body, as: UTF8.self)))
            }
            func push(_ arguments: String...) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
                try await ChildProcess.run(
                    [Products.executable("martlet"), "push", "--config", fixture.configuration] + arguments)
            }

            let one = try await push(files[0])
            #expect(one.exit.status == .exited(0) && one.errors == [])
            #expect(one.output == ["accepted  \(good.id)  \(files[0]): APNs accepted the push."])

            let all = try await push(files[0], files[1], files[2])
            #expect(all.exit.status == .exited(1) && all.output == one.output)
            #expect(all.errors.count == 2)
            let rejected = "rejected  \(bad.id)  \(files[1]): APNs answered 400 BadDeviceToken. "
            #expect(all.errors.first?.hasPrefix(rejected) == true)
            #expect(all.errors.last?.hasPrefix("invalid  ") == true)

            let json = try await push("--json", "--new-id", files[0], files[1])
            #expect(json.exit.status == .exited(1) && json.errors == [])
            let contract = try Contract.result()
            for line in json.output { #expect(try contract.violation(of: Array(line.utf8)) == nil) }
            let results = try json.output.map { try JSONDocument($0).root }
            #expect(results.map { $0["outcome"]?.string } == ["accepted", "rejected"])
            #expect(results.allSatisfy { $0["id"]?.string != good.id && $0["id"]?.string != bad.id })

            try await certified.revoke(at: fixture.apns)
            let refused = try await push(files[1])
            #expect(refused.exit.status == .exited(1))
            #expect(
                refused.errors.first?.hasPrefix(
                    "rejected  \(bad.id)  \(files[1]): 127.0.0.1:\(fixture.port): the peer does not accept the local certificate"
                )
                    == true, "\(refused.errors)")

            try await fixture.end()
            let away = try await push(files[0])
            #expect(away.exit.status == .exited(3))
            #expect(
                away.errors == [
                    "rejected  \(good.id)  \(files[0]): 127.0.0.1:\(fixture.port): Connection refused: check DNS and firewalls "
                        + "on this host, and https://developer.apple.com/system-status"
                ])
        }
    }
}
