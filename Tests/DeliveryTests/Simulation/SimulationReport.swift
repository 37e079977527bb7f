import EventLoop
import TestKit

/// What is known of a run when it has ended.
struct SimulationReport {
    /// One publish of a message, and what became of it.
    struct Publish {
        let message: Int
        let at: MonotonicTime
        /// How often it came to a queue that workers consume: from its producer, from a wait, for the quarantine, and once
        /// more for each time that a worker had no confirm of that.
        var arrivals = 0
        /// Deliveries in vain.
        var putBacks = 0
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

    /// A request that APNs saw whole.
    struct Push {
        var status: Int
        var at: MonotonicTime
        /// Of APNs' clock.
        var unixSeconds: Int64
        var worker: Int
        /// Its answer has come to a worker that was alive.
        var wasAnswered = false
        /// One with the same bytes, which APNs had accepted, was answered to the same worker before.
        var wasNeedless = false
    }

    let seed: UInt64
    var settings: SimulatedSettings
    var ending = VirtualLoop.Ending.idle
    var history: UInt64 = 0
    var messages: [SimulatedMessage] = []
    var disturbances: [Disturbance] = []
    /// The number of each is in its `traceparent`.
    var publishes: [Publish] = []
    /// By message.
    var pushes: [[Push]] = []
    /// Pushes with an id or bytes that were never published.
    var foreignPushes = 0
    /// Results and dead letters that belong to no publish.
    var foreignMessages = 0
    var deliveryCountMax = 0
    var requeued = 0
    /// Channels of the broker that a worker's use of a consumer tag crashed.
    var channelCrashes = 0
    /// Where messages are left.
    var unfinished: [String] = []
    var dropped = 0
}

extension SimulationReport {
    /// What went wrong and when, for whoever looks into a seed.
    var story: String {
        func seconds(_ time: MonotonicTime) -> String { "\(Double(time.nanoseconds / 1_000_000) / 1000)" }
        let events = disturbances.map { "\(seconds($0.begins)) to \(seconds($0.ends)): \($0.kind)" }
        let told = publishes.enumerated().map { number, publish in
            let results = publish.results.map { "\(String(decoding: $0.body, as: UTF8.self)) at \(seconds($0.at))" }
                .joined(separator: ", ")
            let pushes = pushes[publish.message].map { "\($0.status) at \(seconds($0.at))" }.joined(separator: ", ")
            return "publish \(number) of \(publish.message) at \(seconds(publish.at)): came \(publish.arrivals) times, "
                + "put back \(publish.putBacks) times; pushed [\(pushes)]; told [\(results)]"
        }
        return (["\(settings)"] + events + told).joined(separator: "\n")
    }
}
