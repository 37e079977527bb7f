import Synchronization

/// A number that rises and falls. Every thread may use the number, which is a relaxed atomic.
public final class Gauge: Sendable {
    private let current = Atomic<Int>(0)

    public init() {}

    public func set(_ value: Int) { current.store(value, ordering: .relaxed) }

    public func add(_ difference: Int) { current.wrappingAdd(difference, ordering: .relaxed) }

    public var value: Int { current.load(ordering: .relaxed) }
}
