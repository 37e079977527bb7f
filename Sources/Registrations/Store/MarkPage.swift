public import Crypto

/// A page of the marks of a store.
open class MarkPage {
    /// The key after which the page begins; nil for the first page.
    public let after: UUIDValue?
    /// Maximum number of marks. A page with fewer marks is the last one.
    public let marksMax: Int

    public init(after: UUIDValue?, marksMax: Int = 1000) {
        (self.after, self.marksMax) = (after, marksMax)
    }

    open func completed(_ marks: [EndMark]) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
