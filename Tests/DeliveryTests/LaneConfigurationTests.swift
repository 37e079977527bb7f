import AMQP
import APNS
import APNSProtocol
import BrokerTopology
import Telemetry
import Testing

@testable import Delivery

@Suite struct LaneConfigurationTests {
    static func configuration(pools: [PoolConfiguration] = []) -> LaneConfiguration {
        LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            requestQueues: [RequestQueue(name: "urgent", prefetch: 5), RequestQueue(name: "bulk", prefetch: 700)],
            apps: AppDirectory([]), pools: pools, worker: "tested")
    }

    @Test func eachQueueHasItsPrefetchAndItsShareOfTheBytes() {
        var configuration = Self.configuration()
        configuration.consumer.messageBytesMax = 10
        configuration.consumer.bodyBytesInFlightMax = 1000
        let consumers = configuration.consumers
        #expect(
            consumers.map(\.queue) == [
                "urgent", "bulk", configuration.names.quarantineQueue, configuration.names.expiredQueue,
            ])
        #expect(consumers.count == configuration.requestQueues.count + LaneConfiguration.consumersBesidesRequests)
        #expect(consumers.map(\.prefetch) == [5, 700, 1, 32])
        #expect(consumers.indices.map(configuration.role) == [.requests, .requests, .quarantine, .expired])
        #expect(consumers.map(\.bodyBytesInFlightMax) == [500, 500, 500, 500])
        configuration.consumer.messageBytesMax = 900
        #expect(configuration.consumers.map(\.bodyBytesInFlightMax) == [900, 900, 900, 900])
    }

    // An operator distinguishes connections at the broker by name.
    @Test func connectionsAreNamedByLaneRoleAndVersion() {
        var configuration = Self.configuration()
        (configuration.broker.connectionName, configuration.number, configuration.version) = ("martlet at x", 3, "1.2")
        #expect(configuration.broker(for: .consume).connectionName == "martlet at x lane 3 consume 1.2")
        #expect(configuration.broker(for: .publish).connectionName == "martlet at x lane 3 publish 1.2")
    }

    // An unreachable host affects all credentials that use this host, and no other host.
    @Test func poolsShareAnEndpointByEnvironmentAndHost() throws {
        let key = try ProviderKey(
            privateKey: #require(SimulatedApps.privateKey), keyID: "ABCDE12345", teamID: "TEAM123456")
        let pools = [
            PoolConfiguration(environment: .production, key: key), PoolConfiguration(environment: .sandbox, key: key),
            PoolConfiguration(environment: .production, key: key, authority: "broadcasts.test"),
            PoolConfiguration(environment: .production, key: key), PoolConfiguration(environment: .sandbox, key: key),
        ]
        #expect(Self.configuration(pools: pools).endpointOfPool == [0, 1, 2, 0, 1])
    }

    /// The apps with their own labels, the other apps and the unknown apps fit into one metric family.
    @Test func namedAppsFitIntoOneMetricFamily() {
        let series = (LaneMetrics.appsNamedMax + 2) * Outcome.allCases.count
        #expect(series <= MetricsRegistry.seriesPerFamilyMax)
        #expect(series + Outcome.allCases.count > MetricsRegistry.seriesPerFamilyMax)
    }
}
