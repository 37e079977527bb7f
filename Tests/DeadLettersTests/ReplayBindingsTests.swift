import BrokerTopology
import Delivery
import Testing

@testable import DeadLetters

@Suite struct ReplayBindingsTests {
    private static let names = TopologyNames()
    private static let own = Topology.Binding(queue: "push.results", exchange: "push.results", routingKey: "result.#")
    private static let unrouted = Topology.Binding(
        queue: "push.unrouted", exchange: "push.unrouted", routingKey: "#")

    private func obstacle(_ ofResults: [Topology.Binding], _ ofUnrouted: [Topology.Binding]) -> String? {
        ReplayBindings(ofResults: ofResults, ofUnrouted: ofUnrouted).obstacle(Self.names)
    }

    @Test func resultsAreReplayedWithoutObstacle() {
        #expect(obstacle([Self.own], [Self.unrouted]) == nil)
        #expect(obstacle([], [Self.unrouted]) == nil)
    }

    // The queue of `martlet watch` or `martlet publish --wait` would receive the results and be deleted with them.
    @Test func aQueueOfWatchIsAnObstacle() {
        let watching = Topology.Binding(queue: "push.watch.1x", exchange: "push.results", routingKey: "#")
        let text = obstacle([Self.own, watching], [Self.unrouted])
        #expect(text?.hasPrefix("queue push.watch.1x of martlet watch or martlet publish --wait would receive") == true)
    }

    // `martlet unrouted replay` acknowledges each result that it has published again. If no queue is bound for the
    // result, this binding puts the result back into the queue.
    @Test func aMissingBindingOfTheUnroutedQueueIsAnObstacle() {
        let foreign = Topology.Binding(queue: "other", exchange: "push.unrouted", routingKey: "#")
        #expect(obstacle([Self.own], [foreign])?.hasPrefix("queue push.unrouted is not bound to exchange ") == true)
    }
}
