/// A queue in an array: taking from the front moves nothing.
package struct FIFO<Element> {
    package private(set) var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { head < elements.count ? elements[head] : nil }

    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    package mutating func removeFirst() {
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

    package mutating func popFirst() -> Element? {
        defer { removeFirst() }
        return first
    }
}
