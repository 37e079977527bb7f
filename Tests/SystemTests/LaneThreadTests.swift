import Crypto
import TestKit
import Testing

extension SystemTests {
    /// Here, not among the unit suites, because a sanitizer's own memory has no room beside such stacks.
    @Suite struct LaneThread {
        @Test func aLaneWithoutAThreadEndsTheWorker() async throws {
            let directory = try TemporaryDirectory()
            try directory.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
            try directory.write(
                "martlet.yaml",
                """
                amqp: {url: amqp://127.0.0.1:\(try FreePort.choose())}
                apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
                apps: {com.example.app: {}}
                lanes: 1
                """)
            // No machine has room for stacks of a pebibyte.
            let command = "ulimit -s 1099511627776 && exec \"$0\" worker --config \"$1\""
            let result = try await ChildProcess.run([
                "/bin/sh", "-c", command, Products.executable("martlet"), directory.file("martlet.yaml"),
            ])
            #expect(result.exit.status == .exited(1))
            #expect(result.errors.contains { $0.contains("A lane has no thread") }, "\(result.errors)")
        }
    }
}
