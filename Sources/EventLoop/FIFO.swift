/// A first-in, first-out queue in an array. Removing the first element takes amortized constant time.
@frozen
public struct FIFO<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    @inlinable public init() {}

    @inlinable public var count: Int { elements.count - head }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var first: Element? { head < elements.count ? elements[head] : nil }

    @inlinable
    public mutating func append(_ element: Element) {
        elements.append(element)
    }

    @inlinable
    public mutating func removeFirst() {
        guard head < elements.count else { return }
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    @inlinable
    public mutating func popFirst() -> Element? {
        defer { removeFirst() }
        return first
    }
}
