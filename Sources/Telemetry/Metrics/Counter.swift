import Synchronization

/// A count that only grows. A relaxed atomic: usable from every thread, without ordering.
public final class Counter: Sendable {
    private let total = Atomic<Int>(0)

    public init() {}

    public func add(_ count: Int = 1) { total.wrappingAdd(count, ordering: .relaxed) }

    public var value: Int { total.load(ordering: .relaxed) }
}
