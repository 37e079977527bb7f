import EventLoop
import TestKit

/// The record of a completed run.
struct SimulationReport {
    /// One publish of a request, with its results.
    struct Publish {
        let message: Int
        let at: MonotonicTime
        /// The number of arrivals in queues that lanes consume, including repeats of unconfirmed publishes.
        var arrivals = 0
        /// The number of failed deliveries.
        var requeues = 0
        var results: [Result] = []
        var deadLetters: [DeadLetter] = []
    }

    struct Result: Hashable {
        var at: MonotonicTime
        var body: [UInt8]
        var routingKey: String
    }

    struct DeadLetter {
        var routingKey: String
        var body: [UInt8]
    }

    /// A complete request that APNs received.
    struct Push {
        var status: Int
        var at: MonotonicTime
        /// The time of the push by the clock of APNs.
        var unixSeconds: Int64
        var worker: Int
        /// Whether a living worker received the answer; false for a refused push.
        var wasAnswered = false
        /// Whether the same worker already had the answer that APNs accepted an identical push.
        var wasNeedless = false
    }

    let seed: UInt64
    var settings: SimulatedSettings
    var ending = VirtualLoop.Outcome.idle
    var history: UInt64 = 0
    var messages: [SimulatedMessage] = []
    var disturbances: [Disturbance] = []
    /// The publishes. The `traceparent` of each publish contains its index.
    var publishes: [Publish] = []
    /// The pushes of each request, in the order of `messages`.
    var pushes: [[Push]] = []
    /// The number of pushes with an id or bytes that were never published.
    var foreignPushes = 0
    /// The number of results and dead letters that belong to no publish.
    var foreignMessages = 0
    var deliveryCountMax = 0
    var requeued = 0
    /// The number of channels that the broker crashed because a worker reused a consumer tag.
    var channelCrashes = 0
    var unfinished: [String] = []
    var dropped = 0
    /// The record of registrations; nil for a seed without registrations.
    var registrations: RegistrationRecord?
}

extension SimulationReport {
    /// The disturbances and publishes of the run, to analyze a seed.
    var story: String {
        func seconds(_ time: MonotonicTime) -> String { "\(Double(time.nanoseconds / 1_000_000) / 1000)" }
        let events = disturbances.map { "\(seconds($0.begins)) to \(seconds($0.ends)): \($0.kind)" }
        let lines = publishes.enumerated().map { number, publish in
            let results = publish.results.map { "\(String(decoding: $0.body, as: UTF8.self)) at \(seconds($0.at))" }
                .joined(separator: ", ")
            let pushes = pushes[publish.message].map { "\($0.status) at \(seconds($0.at))" }.joined(separator: ", ")
            return
                "publish \(number) of \(publish.message) at \(seconds(publish.at)): arrived \(publish.arrivals) times, "
                + "requeued \(publish.requeues) times; pushed [\(pushes)]; results [\(results)]"
        }
        return (["\(settings)"] + events + lines).joined(separator: "\n")
    }
}
