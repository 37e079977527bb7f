package import Registrations

/// An edit of registrations, page by page. It can stop after each page. A later edit can continue there.
package final class StoreEdit {
    package enum End: Equatable, Sendable {
        case complete
        /// A stop because the closure `isStopped` returned true.
        case stopped
        case failed(StoreFault)
    }

    private let edit: EditPage.Edit
    /// The key after which the edit continues; nil at the first page.
    package private(set) var last: Registration.Key?
    package private(set) var editedCount = 0
    /// The number of registrations in the pages before the last one, tombstones included.
    package private(set) var readCount = 0
    /// The number of registrations that could not be decrypted. They stay unchanged.
    package private(set) var unreadableCount = 0

    /// Creates an edit.
    ///
    /// - Parameter last: The key after which an earlier edit stopped; nil for a new edit.
    package init(_ edit: EditPage.Edit, after last: Registration.Key? = nil) {
        (self.edit, self.last) = (edit, last)
    }

    package func run(in store: StoreSession, isStopped: () -> Bool) async -> End {
        do throws(StoreFault) {
            repeat {
                if isStopped() { return .stopped }
                let page = try await store.edit(edit, after: last)
                editedCount += page.editedCount
                unreadableCount += page.unreadableCount
                guard let next = page.last else { return .complete }
                last = next
                readCount += page.rowsMax
            } while true
        } catch {
            return .failed(error)
        }
    }
}
