import TestKit
import Testing

extension SystemTests {
    /// The names of a worker's connections, which the broker lists.
    @Suite struct ConnectionNames {
        @Test func eachConnectionNamesItsProcessLaneAndRole() async throws {
            let fixture = try await SystemFixture("names", SystemFixture.Options(lanes: 2))
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            let names = try await PrivateBroker.shared.rabbitmqctl("list_connections", "client_properties")
            for lane in 0..<2 {
                for role in ["consume", "publish"] {
                    let name = try Regex("\"martlet [^ /]+/\(worker.pid) lane \(lane) \(role) [0-9]+\\.[0-9.]+\"")
                    #expect(names.count { $0.contains(name) } == 1, "\(names)")
                }
            }
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}
