import EventLoop

/// The publishes of a lane that are repeated without success, and the deliveries that are not begun meanwhile.
struct PublishBacklog {
    private(set) var count = 0
    var outage = Outage()
    /// Of publishes before they are repeated. A drain ends them.
    let pauses = ContinuationList<Void>()
    private var held: [DeliveryRecord] = []

    mutating func begin() {
        count += 1
    }

    /// A publish has succeeded, or was given up. Returns whether it was the last.
    mutating func end() -> Bool {
        count -= 1
        return count == 0
    }

    mutating func hold(_ record: DeliveryRecord) {
        held.append(record)
    }

    /// They are to be delivered, or held again.
    mutating func takeHeld() -> [DeliveryRecord] {
        defer { held = [] }
        return held
    }
}
