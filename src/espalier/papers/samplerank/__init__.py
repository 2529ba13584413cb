"""SampleRank: learning by ranking in a random walk (Wick et al. 2009; Singh, Yao, Riedel & McCallum 2010)."""
