package import Crypto
package import EventLoop

extension UUIDValue {
    /// Creates a random UUID.
    package init(randomOf loop: EventLoop) { self.init(high: loop.nextRandom(), low: loop.nextRandom()) }
}
