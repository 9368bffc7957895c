"""Routes in the shapes of other search services, so that their clients search here by a change of address."""
