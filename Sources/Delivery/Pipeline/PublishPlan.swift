/// The messages that a settlement still has to publish. The order of the bits is the order of the publishes.
///
/// When the plan is empty, the delivery is acknowledged, rejected or requeued.
struct PublishPlan: OptionSet {
    let rawValue: UInt8

    /// The command that ends or suspects the registrations of a device token that APNs refused. It precedes the result,
    /// so that a crash between both cannot lose it.
    static let registration = PublishPlan(rawValue: 1 << 0)
    static let deadLetter = PublishPlan(rawValue: 1 << 1)
    static let result = PublishPlan(rawValue: 1 << 2)
    /// The request, republished to a wait queue.
    static let wait = PublishPlan(rawValue: 1 << 3)
    /// The request, republished to the quarantine.
    static let quarantine = PublishPlan(rawValue: 1 << 4)

    /// The next publish; empty if no publish remains.
    var first: PublishPlan { PublishPlan(rawValue: rawValue & (0 &- rawValue)) }

    mutating func removeFirst() { self = PublishPlan(rawValue: rawValue & (rawValue &- 1)) }
}
