import AMQP
import EventLoop
import JSON
import TestKit

extension SystemFixture {
    /// How long it took from publish to result: samples that were published at these times, in their order.
    func latencies(of samples: [Sample], publishedAt times: [MonotonicTime]) async throws -> [Duration] {
        let messages = await testClient.collected(queue("results"))
        let arrivals = await testClient.arrivals(queue("results"))
        var told: [String: MonotonicTime] = [:]
        for (message, arrival) in zip(messages, arrivals) {
            let id = try message.json.root["id"]?.string ?? "-"
            told[id] = told[id] ?? arrival
        }
        return zip(samples, times).compactMap { sample, time in told[sample.id].map { time.duration(to: $0) } }
    }
}
