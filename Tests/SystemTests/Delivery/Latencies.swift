import AMQP
import EventLoop
import JSON
import TestKit

extension SystemFixture {
    /// Returns the time from publishing each sample to its first result, in the order of `samples`.
    ///
    /// Skips samples without a result.
    func latencies(of samples: [Sample], publishedAt times: [MonotonicTime]) async throws -> [Duration] {
        let messages = await testClient.collected(queue("results"))
        let arrivals = await testClient.arrivals(queue("results"))
        var firstArrivals: [String: MonotonicTime] = [:]
        for (message, arrival) in zip(messages, arrivals) {
            let id = try message.json.root["id"]?.string ?? "-"
            firstArrivals[id] = firstArrivals[id] ?? arrival
        }
        return zip(samples, times).compactMap { sample, time in firstArrivals[sample.id].map { time.duration(to: $0) } }
    }
}
