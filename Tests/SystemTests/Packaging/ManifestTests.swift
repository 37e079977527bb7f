import TestKit
import Testing

extension ToolTests {
    /// The Kubernetes and Compose manifests of `deploy`.
    @Suite struct Manifests {
        @Test func everyObjectIsValid() async throws {
            let directory = try TemporaryDirectory()
            let config = try directory.write(
                "martlet.yaml",
                """
                amqp:
                  url: amqp://rabbitmq
                  username: push-worker
                  request_queues: [{name: push.requests, shards: 2}, {name: jobs, shards: 2}, {name: "It's one"}]
                apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: key.p8}]}
                apps: {com.example.app: {}}
                channels: {}
                """)
            let printed = try await ChildProcess.run([
                Products.executable("martlet"), "topology", "print", "--config", config, "--format", "kubernetes",
                "--broker", "4.1",
            ])
            #expect(printed.exit.status == .exited(0), "\(printed.errors)")
            // The printed objects belong to this cluster.
            let cluster = try Files.lines(of: Products.file("deploy/kubernetes/production/rabbitmq.yaml"))
                .prefix { $0 != "---" }
            let file = try directory.write("printed.yaml", (cluster + ["---"] + printed.output).joined(separator: "\n"))
            let result = try await ChildProcess.run(
                [Products.file("deploy/check/manifests"), file], within: .seconds(280))
            #expect(result.exit.status == .exited(0), "\((result.output + result.errors).joined(separator: "\n"))")
        }
    }
}
